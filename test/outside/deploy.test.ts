// What `wrangler deploy` would upload, for every environment of wrangler.toml.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, inject, it } from "vitest";

import { ProcessGroup, PROJECT_ROOT } from "./dev-server.ts";

/** The platform takes 3 MB compressed, but starts small Workers faster: beyond this, look twice. */
const COMPRESSED_KIB_MAX = 512;

const scratch = mkdtempSync(path.join(tmpdir(), "parley-deploy-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const wrangler = [path.join("node_modules", "wrangler", "bin", "wrangler.js"), "deploy"];

it.concurrent.each<[what: string, args: string[], environment: string]>([
  ["npm run deploy", [path.join("scripts", "deploy.ts")], "production"],
  ["wrangler deploy", wrangler, "production"],
  ["wrangler deploy --env production", [...wrangler, "--env", "production"], "production"],
  ["wrangler deploy --env development", [...wrangler, "--env", "development"], "development"],
])("%s --dry-run", async (_what, args, environment) => {
  const outdir = mkdtempSync(path.join(scratch, "bundle-"));
  const group = new ProcessGroup({
    args: [...args, "--dry-run", "--outdir", outdir],
    env: { WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" },
  });
  expect(await group.exit(), group.output).toBe(0);
  expect(group.output).toMatch(/CHAT_ROOM \(ChatRoom\)/);
  expect(group.output).toMatch(/LOBBY \(Lobby\)/);
  expect(group.output).toMatch(/DEAD_LETTERS \(DeadLetters\)/);
  expect(group.output).toContain(`env.ENVIRONMENT ("${environment}")`);
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
