// The examples of docs/http-api.md, run as they stand there: one shell, from top to bottom.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

import { PROJECT_ROOT, TEST_SECRET } from "./servers.ts";
import { execute } from "./packages.ts";
import { useServer } from "./stage.ts";
import { join } from "./stock-clients.ts";

const PAGE = path.join(PROJECT_ROOT, "docs", "http-api.md");
const MARK = "==== next example ====";

/** Of its own: some answers name all rooms of a user. */
const server = await useServer();

/** Differ from run to run. */
const MOMENTARY = new Set([
  "id",
  "key",
  "timestamp",
  "since",
  "lastActivity",
  "editedAt",
  "at",
  "until",
  "uploadedAt",
  "version",
]);

interface Example {
  readonly command: string;
  readonly kind: string;
  readonly answer: string;
}

/** Each block of commands, with the block of its expected output. */
function examplesOf(page: string): { setUp: string; examples: Example[] } {
  const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(([, kind, text]) => ({ kind: kind!, text: text! }));
  const [first, ...rest] = blocks;
  const examples = rest.flatMap(({ kind, text }, i) => {
    const answer = rest[i + 1];
    return kind === "sh" ? [{ command: text, kind: answer?.kind ?? "", answer: answer?.text ?? "" }] : [];
  });
  return { setUp: first!.text, examples };
}

function isMissing(tool: string): boolean {
  try {
    execFileSync(tool, ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return true;
  }
}

/** JSON without the values that differ in each run. */
const stable = (text: string): unknown =>
  JSON.parse(text, (key, value: unknown) => (MOMENTARY.has(key) ? typeof value : value));

it("the examples of docs/http-api.md do as the page says", async (ctx) => {
  const missing = ["curl", "bash"].filter(isMissing);
  ctx.skip(missing.length > 0, `no ${missing.join(", no ")} on this machine`);
  const { setUp, examples } = examplesOf(readFileSync(PAGE, "utf8"));
  expect(examples.length).toBeGreaterThan(10);
  await join(server.url, "handbook", "ada", { reconnection: false });

  const begin = setUp.replace("http://127.0.0.1:8787", server.url);
  const steps = examples.map(({ command }) => `${command}\necho; echo "${MARK}"`);
  const script = ["set -euo pipefail", `export JWT_SECRET=${TEST_SECRET}`, begin, ...steps].join("\n");
  const printed = (await execute(["bash", "-c", script], { cwd: PROJECT_ROOT })).split(MARK);

  for (const [i, { command, kind, answer }] of examples.entries()) {
    const got = printed[i]!.trim();
    if (kind === "json") expect(stable(got), command).toEqual(stable(answer));
    else expect(got, command).toBe(answer.trim());
  }
});
