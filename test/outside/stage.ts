// Set-up for one file of tests: windows of the shared browser, and a server with its own settings. Called at the top of
// *.test.ts.
import { chromium, type Browser } from "playwright-core";
import { afterAll, inject } from "vitest";

import { PATIENCE_MS } from "../host/patience.ts";
import { startServer, type TestServer } from "./servers.ts";

/** All files share one Chromium; the contexts and pages that a file opens are closed after its last test. */
export async function useBrowser(): Promise<Browser> {
  const browser = await chromium.connect(inject("browserEndpoint"));
  const newContext = browser.newContext.bind(browser);
  // Half a minute by itself.
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
  afterAll(() => browser.close());
  return browser;
}

export async function useServer(settings: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  const server = await startServer({ settings });
  afterAll(() => server.stop());
  return server;
}
