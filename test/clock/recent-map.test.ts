// The map of the entries set last.
import { expect, it } from "vitest";

import { RecentMap } from "../../src/clock/recent-map.ts";

it("keeps the entries that were set last", () => {
  const map = new RecentMap<string, number>(2);
  map.set("a", 1).set("b", 2).set("a", 3);
  expect([...map]).toEqual([
    ["b", 2],
    ["a", 3],
  ]);
  map.set("c", 4);
  expect([...map]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
});

it("has room again for what was deleted", () => {
  const map = new RecentMap<string, number>(2);
  map.set("a", 1).set("b", 2).delete("a");
  map.set("c", 3);
  expect([...map.keys()]).toEqual(["b", "c"]);
});
