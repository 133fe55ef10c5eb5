// Compares the table of failures with the pages that explain its codes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import {
  ANSWERS,
  ENDINGS,
  HTTP_STATUS,
  isAboutToken,
  NOT_IN_API,
  REFUSALS,
  RETRY_AFTER,
  RETRY_NEVER,
} from "../../src/protocol/failures.ts";

const textOf = (path: string): string => readFileSync(join(import.meta.dirname, "../..", path), "utf8");

/** Cells of the rows between a heading and the next one. */
function rowsUnder(text: string, heading: string): string[][] {
  const [, section = ""] = text.split(`\n${heading}\n`);
  const [table] = section.split("\n#");
  return [...table!.matchAll(/^\| (.*) \|$/gm)]
    .map(([, row]) => row!.split(" | ").map((cell) => cell.trim()))
    .filter(([first]) => /^`|^\d/.test(first!));
}

const codesIn = (cell: string): string[] => [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code!);

describe("the table of failures", () => {
  const spec = textOf("src/chat/SPEC.md");

  it("has the answers that the chat's spec explains, each once", () => {
    const rows = rowsUnder(spec, "### Answers");
    expect(rows.flatMap(([codes]) => codesIn(codes!))).toEqual(Object.keys(ANSWERS));
  });

  it("has the same answers for retries as the chat's spec", () => {
    for (const [codes, , retry] of rowsUnder(spec, "### Answers")) {
      for (const code of codesIn(codes!)) {
        const isForClients = RETRY_AFTER.includes(code);
        // The spec tells people, too, when a mute and a read-only room end; clients do not wait for that.
        if (code === "MUTED" || code === "ROOM_READ_ONLY") expect([code, isForClients]).toEqual([code, false]);
        else if (retry === "no") expect([code, isForClients, isAboutToken(code)]).toEqual([code, false, false]);
        else if (retry === "with another token") expect([code, isAboutToken(code)]).toEqual([code, true]);
        else expect([code, isForClients]).toEqual([code, true]);
      }
    }
  });

  it("has the refusals of CONNECT that the chat's spec explains", () => {
    const rows = rowsUnder(spec, "### Refusals of CONNECT");
    expect(rows.flatMap(([code]) => codesIn(code!)).sort()).toEqual([...REFUSALS].sort());
  });

  it("has the statuses that the page of the HTTP API explains", () => {
    const rows = [...textOf("docs/http-api.md").matchAll(/^\| (\d{3}) +\| ([^|]*)\|/gm)];
    const explained = rows.flatMap(([, status, codes]) =>
      codesIn(codes!).map((code) => [code, Number(status)] as const),
    );
    const expected = Object.entries(HTTP_STATUS).filter(([code]) => !NOT_IN_API.includes(code));
    expect(Object.fromEntries(explained)).toEqual(Object.fromEntries(expected));
  });

  it("names no code as one to retry and one never to retry", () => {
    expect(RETRY_AFTER.filter((code) => RETRY_NEVER.includes(code) || isAboutToken(code))).toEqual([]);
    expect(new Set(ENDINGS).size).toBe(ENDINGS.length);
  });
});
