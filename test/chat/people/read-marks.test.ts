// Read marks in storage: many to a row, and a bounded number of rows. READ-4
import { describe, expect, it } from "vitest";

import { READ_MARK_PAGES_MAX, ReadMarks } from "../../../src/chat/people/read-marks.ts";
import { ENTRIES_PER_PAGE } from "../../../src/storage/paged-map.ts";
import { MemoryState } from "../../host/memory-state.ts";
import { fc } from "../../host/properties.ts";

const rowsOf = (state: MemoryState): number => [...state.list({ prefix: "" })].length;

function readBy(count: number): { state: MemoryState; marks: ReadMarks } {
  const state = new MemoryState();
  const marks = new ReadMarks(state);
  for (let i = 0; i < count; i++) marks.advance({ user: `user-${i}`, seq: i + 1 });
  marks.save();
  return { state, marks };
}

describe("the marks of many readers", () => {
  it.each([
    [ENTRIES_PER_PAGE - 1, 1],
    [ENTRIES_PER_PAGE, 1],
    [ENTRIES_PER_PAGE + 1, 2],
  ])("%i of them take %i rows", (readers, rows) => {
    expect(rowsOf(readBy(readers).state)).toBe(rows);
  });

  it("cost one row where some moved, and none where none did", () => {
    const { state, marks } = readBy(ENTRIES_PER_PAGE + 1);
    state.writes = 0;
    marks.save();
    expect(state.writes).toBe(0);
    marks.advance({ user: "user-3", seq: 900 });
    marks.advance({ user: "user-4", seq: 900 });
    marks.save();
    expect(state.writes).toBe(1);
  });

  it("are bounded: the oldest page is dropped, and its readers begin at 0", () => {
    const readers = ENTRIES_PER_PAGE * READ_MARK_PAGES_MAX;
    const { state, marks } = readBy(readers);
    expect(rowsOf(state)).toBe(READ_MARK_PAGES_MAX);
    marks.advance({ user: "one-more", seq: 7 });
    marks.advance({ user: "user-1", seq: 8 });
    marks.save();
    expect(rowsOf(state)).toBe(READ_MARK_PAGES_MAX);
    const again = new ReadMarks(state);
    const kept = ["one-more", "user-0", "user-1", `user-${ENTRIES_PER_PAGE}`].map((user) => again.get(user));
    expect(kept).toEqual([7, 0, 8, ENTRIES_PER_PAGE + 1]);
  });

  it.each(["__proto__", "constructor", ""])("work for a user called %j", (user) => {
    const { marks } = readBy(1);
    expect(marks.get(user)).toBe(0);
    marks.advance({ user, seq: 5 });
    expect(marks.get(user)).toBe(5);
  });
});

it("a mark is the highest that was stored or restored, after any sequence of reads, writes and sleeps", () => {
  const step = fc.oneof(
    fc.record({ user: fc.constantFrom("ada", "ben", "cleo"), seq: fc.nat(20) }),
    fc.constantFrom("store", "sleep"),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const state = new MemoryState();
      const truth = new Map<string, number>();
      let marks = new ReadMarks(state);
      for (const step of steps) {
        if (step === "store") marks.save();
        else if (step === "sleep") {
          marks = new ReadMarks(state);
          for (const [user, seq] of truth) marks.restore({ user, seq });
        } else {
          expect(marks.advance(step)).toBe(step.seq > (truth.get(step.user) ?? 0));
          truth.set(step.user, Math.max(step.seq, truth.get(step.user) ?? 0));
        }
      }
      for (const [user, seq] of truth) expect(marks.get(user)).toBe(seq);
    }),
  );
});
