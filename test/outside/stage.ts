// Set-up for one file of tests, or for a test: windows of the shared browser, and a server with its own settings.
import type { Browser } from "playwright-core";
import { afterAll, onTestFinished, TestRunner } from "vitest";

import { launchBrowser } from "../../scripts/chromium.ts";
import { PATIENCE_MS } from "../host/patience.ts";
import { startServer, type TestServer } from "./servers.ts";

let launched: Promise<Browser> | undefined;

/** The files of a process share one Chromium; what a file opens is closed after its last test. */
export async function useBrowser(): Promise<Browser> {
  const browser = await (launched ??= launch());
  afterAll(() => Promise.all(browser.contexts().map((context) => context.close())));
  return browser;
}

async function launch(): Promise<Browser> {
  const browser = await launchBrowser();
  const newContext = browser.newContext.bind(browser);
  // Half a minute by itself.
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
  return browser;
}

/** Called at the top of a file it ends the server after the last test, called in a test after that one. */
export async function useServer(settings: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  const server = await startServer({ settings });
  // Vitest takes an `afterAll` within a test without a word, and never calls it.
  const ends = TestRunner.getCurrentTest() ? onTestFinished : afterAll;
  ends(() => server.stop());
  return server;
}
