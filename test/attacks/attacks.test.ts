// Checks the corpus of hostile inputs: docs/reliability.md states their number, and all differ.
import { readFileSync } from "node:fs";
import path from "node:path";
import { exportSPKI, generateKeyPair } from "jose";
import { describe, expect, it } from "vitest";

import { HOSTILE_BODIES } from "./bodies.ts";
import { HOSTILE_EVENTS } from "./events.ts";
import { HOSTILE_FRAMES } from "./frames.ts";
import { FOREIGN_ORIGINS, HOSTILE_REQUESTS, SPOOFED_HEADERS } from "./requests.ts";
import { hostileTokens } from "./tokens.ts";
import { HOSTILE_BYTES } from "./wire.ts";

const docs = readFileSync(path.join(import.meta.dirname, "../../docs/reliability.md"), "utf8");
const chapter = docs.split(/^(?=## )/m).find((text) => text.startsWith("## Attacks")) ?? "";

/** The cells of the table's row that begins so. */
function rowOf(begin: string): string[] {
  const rows = chapter.split("\n").filter((line) => /^\s*\|/.test(line));
  const cells = rows.map((row) => row.split("|").slice(1, -1)).map((row) => row.map((cell) => cell.trim()));
  return cells.find(([first = ""]) => first.startsWith(begin)) ?? [];
}

async function corpus(): Promise<Record<string, readonly unknown[]>> {
  const { publicKey } = await generateKeyPair("RS256", { extractable: true });
  const tokens = await hostileTokens({ secret: "a-secret-of-this-test", publicKey: await exportSPKI(publicKey) });
  return {
    frames: HOSTILE_FRAMES.map(({ frames, isExtended }) => [
      isExtended,
      frames.map((frame) => (typeof frame === "string" ? frame : `${frame.length} bytes`)),
    ]),
    events: HOSTILE_EVENTS.map(({ event, payload }) => [event, payload]),
    bodies: HOSTILE_BODIES.map(({ body }) => body),
    requests: HOSTILE_REQUESTS.map(({ name: _name, status: _status, ...request }) => request),
    pages: FOREIGN_ORIGINS,
    headers: SPOOFED_HEADERS,
    tokens: tokens.map(({ token }) => token),
    bytes: HOSTILE_BYTES.map(({ bytes, isOverWebSocket }) => [bytes, isOverWebSocket]),
  };
}

describe("hostile inputs", () => {
  it("are as many as docs/reliability.md says, and no two are the same", async () => {
    const counted: Record<string, number> = {};
    const stated: Record<string, number> = {};
    for (const [begin, inputs] of Object.entries(await corpus())) {
      counted[begin] = inputs.length;
      stated[begin] = Number(rowOf(begin).at(-1)?.replaceAll(",", ""));
      expect(new Set(inputs.map((input) => JSON.stringify(input))).size, begin).toBe(inputs.length);
    }
    const all = Object.values(counted).reduce((sum, count) => sum + count, 0);
    // In one comparison, so that a failure prints all numbers that the page has to state.
    expect(
      { ...stated, all: Number(/(\d+) hostile inputs/.exec(chapter)?.[1]) },
      'received: what the rows of "Attacks" in docs/reliability.md say (and "all", the line above them); expected: how many inputs there are',
    ).toEqual({ ...counted, all });
    expect(all).toBeGreaterThanOrEqual(300);
  });
});
