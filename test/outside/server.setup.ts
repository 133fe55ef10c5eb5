// The one server that most outside tests share: started before the first, ended after the last.
import type { TestProject } from "vitest/node";

import { startDevServer } from "./dev-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly serverUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startDevServer();
  project.provide("serverUrl", server.url);
  return () => server.stop();
}
