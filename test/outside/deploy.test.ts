// The upload that `wrangler deploy` would make: production, and the environment that runs locally.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, inject, it } from "vitest";

import { ProcessGroup, PROJECT_ROOT } from "./servers.ts";

/** As wrangler counts. Small Workers start faster. */
const COMPRESSED_KIB_MAX = 256;

const scratch = mkdtempSync(path.join(tmpdir(), "parley-deploy-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const wrangler = [path.join("node_modules", "wrangler", "bin", "wrangler.js"), "deploy"];

/** The files and bindings of an upload. */
interface Upload {
  readonly code: string;
  readonly bindings: readonly string[];
}

async function dryRun(args: readonly string[], environment: string): Promise<Upload> {
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
  return {
    code: readFileSync(path.join(outdir, "index.js"), "utf8"),
    bindings: group.output.split("\n").filter((line) => line.startsWith("env.")),
  };
}

it.concurrent("npm run deploy and wrangler deploy upload the same: production", async () => {
  const [byScript, byHand] = await Promise.all([
    dryRun([path.join("scripts", "deploy.ts")], "production"),
    dryRun(wrangler, "production"),
  ]);
  expect(byScript.bindings).toEqual(byHand.bindings);
  expect(byScript.bindings.length).toBeGreaterThan(5);
  expect(byScript.code === byHand.code).toBe(true);
});

it.concurrent("wrangler deploy --env development uploads what runs locally", async () => {
  await dryRun([...wrangler, "--env", "development"], "development");
});

it("GET /health names the version of package.json", async () => {
  const { version } = JSON.parse(readFileSync(path.join(PROJECT_ROOT, "package.json"), "utf8")) as { version: string };
  const health = await fetch(`${inject("serverUrl")}/health`);
  expect(await health.json()).toMatchObject({ status: "healthy", version });
});
