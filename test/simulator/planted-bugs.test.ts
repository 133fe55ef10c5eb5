// Plants one bug after the other in the product, and lets the simulator look for it: it must break the rule that guards against the bug.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";

import { PLANTED_BUGS } from "./planted-bugs.ts";
import { findPlanted, PLANTED_SEEDS } from "./planted-search.ts";
import { plantedRows } from "./planted-table.ts";

/** Seeds that are tried for a planted bug which its own seed does not find any more. */
const OTHER_SEEDS = 30;

describe.concurrent("a planted bug", () => {
  it.each(PLANTED_BUGS)("is found: $bug", async (planted) => {
    expect(await findPlanted(planted, OTHER_SEEDS)).toMatchObject({ violation: { invariant: planted.breaks } });
  });

  it("is listed in docs/reliability.md, with the seed that found it last", async () => {
    const docs = await readFile(path.join(import.meta.dirname, "../../docs/reliability.md"), "utf8");
    const rows = PLANTED_BUGS.map(({ bug, file, breaks }) => [bug, file, String(PLANTED_SEEDS[bug]), breaks]);
    expect(plantedRows(docs)).toEqual(rows);
  });
});
