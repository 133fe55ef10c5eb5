// docs/doctor.md lists each finding of the doctor, with the levels that it may have.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { expect, it } from "vitest";

const ROOT = path.join(import.meta.dirname, "../../..");
const FOLDER = path.join(ROOT, "scripts/doctor");

it("docs/doctor.md has a row for each finding", () => {
  const sources = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const text = sources.map((name) => readFileSync(path.join(FOLDER, name), "utf8")).join("\n");
  const made = [...text.matchAll(/\b(?:error|warning|note)\(\s*"([a-z]+\.[a-z-]+)"/g)].map(([, code]) => code!);
  const rows = readFileSync(path.join(ROOT, "docs/doctor.md"), "utf8").match(/^\|.*\|.*\|/gm)!;
  const listed = rows.flatMap((row) =>
    [...row.split("|")[1]!.matchAll(/`([a-z]+\.[a-z-]+)`/g)].map(([, code]) => code!),
  );
  expect(made.length).toBeGreaterThan(30);
  expect(listed.toSorted()).toEqual([...new Set(made)].toSorted());
});
