// Runs the simulation of the notes, and proves that it would find a bug.
import { assertHolds, simulate } from "parley-rooms/testing";
import { expect, it } from "vitest";

const NOTES = new URL("./notes.simulation.ts", import.meta.url);

it("keeps every promise through 20 seeds", async () => {
  assertHolds(await simulate(NOTES, { seeds: 20 }));
});

it("would see a note that is stored twice", async () => {
  const bug = { file: "notes.ts", find: "(id TEXT PRIMARY KEY, text TEXT)", replace: "(id TEXT, text TEXT)" };
  const { failures } = await simulate(NOTES, { planted: [bug] });
  expect(failures[0]).toMatchObject({ invariant: "a note is there once" });
});
