// What paces a room: quiet things at once, busy ones gathered, and no backlog that is worked off one by one.
import { describe, expect, it } from "vitest";

import { Pacer } from "../../src/clock/pacer.ts";
import { Deadlines } from "../../src/clock/deadlines.ts";

const WINDOW_MS = 50;

function pacer(): {
  request: (nowMs: number) => void;
  tick: (nowMs: number) => void;
  runs: number[];
  dueMs: () => number | undefined;
} {
  const deadlines = new Deadlines();
  const runs: number[] = [];
  let clockMs = 0;
  const deadline = deadlines.add("flush", (nowMs) => paced.flush(nowMs));
  const paced = new Pacer(WINDOW_MS, deadline, () => runs.push(clockMs));
  return {
    request: (nowMs) => paced.request((clockMs = nowMs)),
    tick: (nowMs) => void deadlines.runDue((clockMs = nowMs), () => undefined),
    runs,
    dueMs: () => deadlines.next(),
  };
}

describe("a pacer", () => {
  it("runs at once where it was quiet for a window", () => {
    const { request, runs } = pacer();
    request(1000);
    request(1000 + WINDOW_MS);
    expect(runs).toEqual([1000, 1050]);
  });

  it("gathers what comes within the window, and runs when it is over", () => {
    const { request, tick, runs, dueMs } = pacer();
    for (const nowMs of [1000, 1010, 1049]) request(nowMs);
    expect([runs, dueMs()]).toEqual([[1000], 1050]);
    tick(1050);
    expect([runs, dueMs()]).toEqual([[1000, 1050], undefined]);
  });

  it("behind a run that took longer than the window gathers again, not one by one", () => {
    const { request, tick, runs, dueMs } = pacer();
    request(1000);
    request(1020);
    // The clock stood still while the room was busy; now its queue is worked off, and the timer's turn comes after it.
    for (let queued = 0; queued < 20; queued++) request(1075);
    expect([runs, dueMs()]).toEqual([[1000], 1050]);
    tick(1075);
    expect(runs).toEqual([1000, 1075]);
  });

  it("waits no longer than a window where the clock is set back", () => {
    const { request, dueMs } = pacer();
    request(10_000_000);
    request(1000);
    expect(dueMs()).toBe(1000 + WINDOW_MS);
  });

  it("does not wait for a timer that a burst starves", () => {
    const { request, runs } = pacer();
    for (let nowMs = 1000; nowMs <= 1300; nowMs += 5) request(nowMs);
    expect(runs).toEqual([1000, 1100, 1200, 1300]);
  });
});
