// The log: one line of JSON per event, by level and share, without secrets.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";

import { errorFacts, logProblem, writeLog, type LogLevel } from "../../src/settings/log.ts";

const ROOT = join(import.meta.dirname, "../..");

afterEach(() => vi.restoreAllMocks());

function logged(level: LogLevel, work: () => void): unknown[] {
  const lines: string[] = [];
  vi.spyOn(console, level).mockImplementation((line: string) => void lines.push(line));
  work();
  return lines.map((line) => JSON.parse(line) as unknown);
}

describe("a line", () => {
  it("is JSON with level, event, facts and place", () => {
    const [line] = logged("error", () =>
      logProblem("room.problem", "it broke", new RangeError("too far"), { room: "den" }),
    );
    expect(line).toMatchObject({ level: "error", event: "room.problem", room: "den", problem: "it broke" });
    expect(line).toMatchObject({ error: "RangeError", message: "too far" });
    expect((line as { at: string[] }).at[0]).toMatch(/^at .*log\.test\.ts/);
  });

  it("does not quote unparsable input", () => {
    const parse = (): unknown => JSON.parse('{"content":"a secret between us"');
    let error: unknown;
    try {
      parse();
    } catch (thrown) {
      error = thrown;
    }
    expect(JSON.stringify(errorFacts(error))).not.toContain("secret");
    const bad = (): unknown => JSON.parse("my-very-secret-token");
    expect(bad).toThrow(/my-very/);
    expect(JSON.stringify(errorFacts(new SyntaxError("my-very-secret-token")))).not.toContain("my-very");
    expect(errorFacts("a string with a secret")).toEqual({ error: "string" });
  });

  it("is written from LOG_LEVEL on, below warn only the share of LOG_SAMPLING", () => {
    const at = (level: LogLevel, logLevel: LogLevel, logSampling: number, random: number): number =>
      logged(level, () => {
        vi.spyOn(Math, "random").mockReturnValue(random);
        writeLog({ logLevel, logSampling }, level, "room.drained");
      }).length;
    expect([
      at("info", "info", 1, 0.99),
      at("info", "warn", 1, 0),
      at("info", "info", 0.1, 0.05),
      at("info", "info", 0.1, 0.5),
      at("info", "info", 0, 0),
      at("warn", "warn", 0, 0.99),
      at("warn", "error", 1, 0),
      at("error", "error", 0, 0.99),
    ]).toEqual([1, 0, 1, 0, 0, 1, 0, 1]);
  });
});

it("only log.ts writes to the console", () => {
  const files = ["src", "durable"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const writing = files.filter((file) => /\bconsole\b/.test(readFileSync(file, "utf8")));
  expect(writing).toEqual([join(ROOT, "src/settings/log.ts")]);
});
