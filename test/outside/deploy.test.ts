// The upload of production that `wrangler deploy` would make.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, inject, it } from "vitest";

import { ProcessGroup, PROJECT_ROOT } from "./servers.ts";

/** As wrangler counts. Small Workers start faster. */
const COMPRESSED_KIB_MAX = 256;

it("npm run deploy uploads production", async () => {
  const group = new ProcessGroup({
    args: [path.join("scripts", "deploy.ts"), "--dry-run"],
    env: { WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" },
  });
  expect(await group.exit(), group.output).toBe(0);
  expect(group.output).toMatch(/CHAT_ROOM \(ChatRoom\)/);
  expect(group.output).toMatch(/LOBBY \(Lobby\)/);
  expect(group.output).toMatch(/DEAD_LETTERS \(DeadLetters\)/);
  expect(group.output).toContain('env.ENVIRONMENT ("production")');
  // Secrets are put by `wrangler secret put`, and never travel with the code.
  expect(group.output).not.toMatch(/JWT_SECRET/);
  const [, compressedKib] = /gzip: ([\d.]+) KiB/.exec(group.output) ?? [];
  expect(Number(compressedKib)).toBeLessThan(COMPRESSED_KIB_MAX);
});

it("GET /health names the version of package.json", async () => {
  const { version } = JSON.parse(readFileSync(path.join(PROJECT_ROOT, "package.json"), "utf8")) as { version: string };
  const health = await fetch(`${inject("serverUrl")}/health`);
  expect(await health.json()).toMatchObject({ status: "healthy", version });
});
