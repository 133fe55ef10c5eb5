// EXT-3: tests the client's heartbeat.
import { beforeEach, describe, expect, it } from "vitest";

import { Heartbeat, PROBE_TIMEOUT_MS } from "../../../client/core/heartbeat.ts";
import { VirtualClock } from "../../host/virtual-clock.ts";

let clock: VirtualClock;
let beats: number;
let deaths: number;
let heartbeat: Heartbeat;
beforeEach(() => {
  clock = new VirtualClock();
  beats = 0;
  deaths = 0;
  heartbeat = new Heartbeat({ clock, beat: () => void beats++, dead: () => void deaths++ });
  heartbeat.start(45_000, 30_000);
});

describe("EXT-3: a client's heartbeat", () => {
  it("beats every interval as long as something answers", () => {
    for (let round = 1; round <= 5; round++) {
      clock.advance(45_000);
      expect(beats).toBe(round);
      heartbeat.heard();
    }
    expect(deaths).toBe(0);
  });

  it("takes the connection for dead after a beat and pingTimeout of silence, not a moment earlier", () => {
    clock.advance(45_000 + 29_999);
    expect(deaths).toBe(0);
    clock.advance(1);
    expect(deaths).toBe(1);
    clock.advance(600_000);
    expect([beats, deaths]).toEqual([1, 1]);
  });

  it("counts anything that arrives as an answer", () => {
    clock.advance(45_000 + 29_999);
    heartbeat.heard();
    clock.advance(20_000);
    expect([beats, deaths]).toEqual([2, 0]);
  });

  it("a probe beats at once and waits less", () => {
    heartbeat.probe();
    expect(beats).toBe(1);
    clock.advance(PROBE_TIMEOUT_MS - 1);
    expect(deaths).toBe(0);
    clock.advance(1);
    expect(deaths).toBe(1);
  });

  it("a probe that is answered changes nothing", () => {
    heartbeat.probe();
    heartbeat.heard();
    clock.advance(45_000);
    expect([beats, deaths]).toEqual([2, 0]);
  });

  it("is still when stopped", () => {
    clock.advance(45_000);
    heartbeat.stop();
    heartbeat.probe();
    clock.advance(600_000);
    expect([beats, deaths]).toEqual([1, 0]);
    expect(clock.quietMs).toBe(Infinity);
  });
});
