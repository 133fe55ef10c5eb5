// Simulates a stock server that sleeps while clients are connected: the package socket.io in the simulator's threads.
import path from "node:path";

import { expect, it } from "vitest";

import { assertHolds, simulate } from "./testing.ts";

const SERVER = path.join(import.meta.dirname, "sleeping-server.simulation.ts");

it("a stock server that sleeps loses and doubles no event, and greets nobody twice", async () => {
  const result = await simulate(SERVER, { seeds: 15 });
  assertHolds(result);
  expect(result.counts["sleeps"]).toBeGreaterThan(20);
});

it.each([
  {
    bug: "greets its clients again at a wake",
    file: "src/stock/timers.ts",
    find: "return mutedUntilMs > 0 && timers!.isMuted(mutedUntilMs);",
    replace: "return false;",
    breaks: "no event is lost, doubled or said twice",
  },
  {
    bug: "ends a bundle with the offset of its first event",
    file: "src/socketio/wire/bundles.ts",
    find: "isRecoverable ? lastOffset(events) : undefined",
    replace: "isRecoverable ? lastText(events[0]!) : undefined",
    breaks: "no event is lost, doubled or said twice",
  },
  {
    bug: "takes its own timers for the application's, and looks for changes for ever",
    file: "durable/engine-object.ts",
    find: 'override(server.deadlines, "changed", (changed) => () => outside(changed));',
    replace: "",
    breaks: "comes to rest",
    // The first seed that finds it quickly.
    from: 18,
  },
])("one that $bug is found", async ({ file, find, replace, breaks, from = 1 }) => {
  const { failures } = await simulate(SERVER, { planted: [{ file, find, replace }], shrinks: 0, from });
  expect(failures[0]).toMatchObject({ invariant: breaks });
});
