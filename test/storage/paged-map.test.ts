// PagedMap: entries share rows, a change writes one row, and saved entries are read back.
import { expect, it } from "vitest";

import { ENTRIES_PER_PAGE, PagedMap, pagesIn } from "../../src/storage/paged-map.ts";
import { MemoryState } from "../host/memory-state.ts";
import { fc } from "../host/properties.ts";

const PREFIX = "page:";

const open = (state: MemoryState, pagesMax?: number): PagedMap<number> =>
  new PagedMap(pagesIn(state, PREFIX), pagesMax);
const rowsOf = (state: MemoryState): number => [...state.list({ prefix: PREFIX })].length;

function filled(count: number, pagesMax?: number): { state: MemoryState; map: PagedMap<number> } {
  const state = new MemoryState();
  const map = open(state, pagesMax);
  for (let i = 0; i < count; i++) map.set(`key-${i}`, i);
  map.save();
  return { state, map };
}

it.each([
  [0, 0],
  [1, 1],
  [ENTRIES_PER_PAGE, 1],
  [ENTRIES_PER_PAGE + 1, 2],
  [12 * ENTRIES_PER_PAGE, 12],
])("stores %i entries in %i rows, and reads them back", (count, rows) => {
  const { state, map } = filled(count);
  expect(rowsOf(state)).toBe(rows);
  expect([...open(state).entries()]).toEqual([...map.entries()]);
  expect(open(state).size).toBe(count);
});

it("writes one row for changes on one page, and none without a change", () => {
  const { state, map } = filled(ENTRIES_PER_PAGE + 1);
  state.writes = 0;
  map.save();
  expect([state.writes, map.hasChanged]).toEqual([0, false]);
  map.set("key-3", -3);
  map.delete("key-4");
  expect([map.hasChanged, map.isUnsaved("key-5"), map.isUnsaved(`key-${ENTRIES_PER_PAGE}`)]).toEqual([
    true,
    true,
    false,
  ]);
  map.save();
  expect(state.writes).toBe(1);
});

it("puts a new entry on a page that has changed, if that page has space", () => {
  const { state, map } = filled(2 * ENTRIES_PER_PAGE);
  map.delete("key-0");
  map.delete(`key-${ENTRIES_PER_PAGE}`);
  map.save();
  map.set(`key-${ENTRIES_PER_PAGE + 1}`, 0);
  map.set("new", 1);
  state.writes = 0;
  map.save();
  expect(state.writes).toBe(1);
  expect(rowsOf(state)).toBe(2);
});

it("deletes the row of a page that became empty, and uses the page again", () => {
  const { state, map } = filled(1);
  map.delete("key-0");
  map.save();
  expect(rowsOf(state)).toBe(0);
  map.set("key-1", 1);
  map.save();
  expect([...open(state).entries()]).toEqual([["key-1", 1]]);
});

it("stores an amended value with the next change on its page", () => {
  const { state, map } = filled(2);
  map.amend("key-0", 100);
  map.amend("nothing", 1);
  expect([map.get("key-0"), map.get("nothing"), map.hasChanged]).toEqual([100, undefined, false]);
  expect(open(state).get("key-0")).toBe(0);
  map.set("key-1", 101);
  map.save();
  expect([...open(state).values()]).toEqual([100, 101]);
});

it("saves only the pages of given keys", () => {
  const { state, map } = filled(ENTRIES_PER_PAGE + 1);
  const last = `key-${ENTRIES_PER_PAGE}`;
  map.set("key-0", -1);
  map.set(last, -1);
  map.save(["key-1", "nothing"]);
  expect([open(state).get("key-0"), open(state).get(last)]).toEqual([-1, ENTRIES_PER_PAGE]);
  map.save();
  expect(open(state).get(last)).toBe(-1);
});

it("saveOne writes a changed page; if there is none, any page; without pages, an empty one", () => {
  const written: number[] = [];
  const map = new PagedMap<number>({ read: () => [], write: (page) => void written.push(page) });
  map.saveOne();
  for (let i = 0; i < ENTRIES_PER_PAGE + 1; i++) map.set(`key-${i}`, i);
  map.save();
  map.set(`key-${ENTRIES_PER_PAGE}`, 0);
  map.saveOne();
  map.saveOne();
  expect(written).toEqual([0, 0, 1, 1, 0]);
});

it("drops the oldest page if there would be more than allowed", () => {
  const { state, map } = filled(2 * ENTRIES_PER_PAGE, 2);
  map.set("new", 1);
  map.set("key-0", 2);
  map.save();
  expect(rowsOf(state)).toBe(2);
  const again = open(state, 2);
  const kept = ["key-0", "key-1", `key-${ENTRIES_PER_PAGE}`, "new"].map((key) => again.get(key));
  expect(kept).toEqual([2, undefined, ENTRIES_PER_PAGE, 1]);
  expect([map.size, again.size]).toEqual([ENTRIES_PER_PAGE + 2, ENTRIES_PER_PAGE + 2]);
});

it("writes a page that failed the next time", () => {
  const { state, map } = filled(ENTRIES_PER_PAGE + 1);
  map.set("key-0", -1);
  map.set(`key-${ENTRIES_PER_PAGE}`, -1);
  state.failure = new Error("full");
  state.storedBeforeFailure = 1;
  expect(() => map.save()).toThrow("full");
  expect(map.hasChanged).toBe(true);
  state.failure = undefined;
  map.save();
  expect([...open(state).entries()]).toEqual([...map.entries()]);
});

it.each(["__proto__", "constructor", ""])("takes %j as a key", (key) => {
  const { state, map } = filled(1);
  expect(map.get(key)).toBeUndefined();
  map.set(key, 5);
  map.save();
  expect(open(state).get(key)).toBe(5);
});

it("equals a plain map after any changes, and its last saved state after a restart", () => {
  const step = fc.oneof(
    fc.record({ key: fc.nat(600), value: fc.nat(9) }),
    fc.record({ delete: fc.nat(600) }),
    fc.constantFrom("save", "restart", "fill"),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const state = new MemoryState();
      let map = open(state);
      let [truth, saved] = [new Map<string, number>(), new Map<string, number>()];
      const set = (key: string, value: number): void => {
        map.set(key, value);
        truth.set(key, value);
      };
      for (const step of steps) {
        if (step === "fill") for (let i = 0; i < ENTRIES_PER_PAGE; i++) set(`${i + truth.size}`, i);
        else if (step === "save") {
          map.save();
          saved = new Map(truth);
        } else if (step === "restart") {
          map = open(state);
          truth = new Map(saved);
        } else if ("key" in step) set(`${step.key}`, step.value);
        else {
          map.delete(`${step.delete}`);
          truth.delete(`${step.delete}`);
        }
        expect(map.size).toBe(truth.size);
      }
      expect(new Map(map.entries())).toEqual(truth);
      for (const [key, value] of truth) expect(map.get(key)).toBe(value);
    }),
  );
});
