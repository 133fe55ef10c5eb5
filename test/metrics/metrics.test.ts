// Meters, the exposition for Prometheus, usage of rooms, and its cost. MET-1, MET-2
import { spawnSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { costOf, monthlyCost, PRICES } from "../../src/metrics/cost.ts";
import { expose } from "../../src/metrics/exposition.ts";
import { COUNTERS, GAUGES, HISTOGRAMS, TOP_COUNTERS } from "../../src/metrics/families.ts";
import { Meter, OVERFLOW, SERIES_MAX, type Counts } from "../../src/metrics/meter.ts";
import type { UsageSort } from "../../src/metrics/busiest-rooms.ts";
import {
  addRecent,
  addUsage,
  MEASURED_MS_MIN,
  recentAt,
  recentHours,
  USAGE_NAMES,
  usageOf,
  wakesOf,
  type RecentUsage,
} from "../../src/metrics/usage.ts";
import { countCommit } from "../../src/chat/posting/posts.ts";
import { SAVE_WINDOW_MS_MAX, TOP_ROOMS } from "../../src/features/directory/lobby.ts";
import { ENTRIES_PER_PAGE } from "../../src/storage/paged-map.ts";
import { NewestNumbers } from "../../src/features/directory/newest-numbers.ts";
import type { CounterDelta } from "../../src/protocol/room-list.ts";
import { expositionOf } from "../host/exposition.ts";
import { MemoryLobby } from "../host/memory-lobby.ts";

const shown = (totals: Record<string, number>) => expositionOf(expose({ totals, gauges: {}, top: {} }));

const NO_USAGE = usageOf([]);

const ROOM_REPORT = { room: "general", members: 1, lastSeq: 1, lastActivity: 1, believedMs: 3_600_000, madeAtMs: 1 };

describe("a meter", () => {
  it("adds up, and `take` resets it", () => {
    const meter = new Meter();
    expect(meter.isEmpty).toBe(true);
    meter.count("posted");
    meter.count("posted", 4);
    expect(meter.take()).toEqual({ posted: 5 });
    expect(meter.take()).toEqual({});
  });

  it("sorts observations into buckets: a bound belongs to its own bucket", () => {
    const meter = new Meter();
    for (const size of [1, 2, 3, 64, 65]) meter.observe("batch", size);
    expect(meter.read()).toEqual({
      "batch:0": 1,
      "batch:1": 1,
      "batch:2": 1,
      "batch:6": 1,
      "batch:7": 1,
      "batch:sum": 135,
    });
  });

  it("limits the number of its series", () => {
    const meter = new Meter();
    for (let i = 0; i < 2 * SERIES_MAX; i++) meter.count(`events:made-up-${i}`, 3);
    const counts = meter.read();
    expect(Object.keys(counts)).toHaveLength(SERIES_MAX + 1);
    expect(counts[OVERFLOW]).toBe(SERIES_MAX);
    meter.count("events:made-up-0", 3);
    expect(meter.read()["events:made-up-0"]).toBe(6);
  });

  it("adds counts of other meters in any order", () => {
    const counts = fc.dictionary(fc.constantFrom("a", "b:x", "c:y,z", "__proto__x"), fc.integer({ min: 1, max: 100 }));
    fc.assert(
      fc.property(fc.array(counts), (added) => {
        const [there, back] = [new Meter(), new Meter()];
        for (const each of added) there.add(each);
        for (const each of added.toReversed()) back.add(each);
        expect(there.read()).toEqual(back.read());
      }),
    );
  });
});

describe("the exposition: MET-1", () => {
  it("has every family with HELP and TYPE, under names of Prometheus' conventions", () => {
    const families = [COUNTERS, GAUGES, HISTOGRAMS, TOP_COUNTERS].flatMap((all) => Object.values(all));
    expect([...shown({}).families].sort()).toEqual(families.map(({ name }) => `parley_${name}`).sort());
    for (const { name } of Object.values({ ...COUNTERS })) expect(name).toMatch(/^[a-z_]+_total$/);
    for (const { name } of Object.values(TOP_COUNTERS)) expect(name).toMatch(/^[a-z_]+_total$/);
    for (const { name } of Object.values(GAUGES)) expect(name).not.toMatch(/_(total|count|sum|bucket)$/);
    expect(new Set(families.map(({ name }) => name)).size).toBe(families.length);
  });

  it("shows counts with their labels and in the unit of the name", () => {
    const exposition = shown({ "wakes:alarm,ping": 3, awake_ms: 1500, posted: 2 });
    expect(exposition.valueOf("parley_room_wakes_total", { cause: "alarm", detail: "ping" })).toBe(3);
    expect(exposition.valueOf("parley_room_awake_seconds_total")).toBe(1.5);
    expect(exposition.valueOf("parley_messages_posted_total")).toBe(2);
    expect(exposition.valueOf("parley_message_duplicates_total")).toBe(0);
  });

  it("shows failures that never happened as 0, so that alerts see the first ones", () => {
    const before = shown({});
    expect(before.valueOf("parley_problems_total", { object: "room" })).toBe(0);
    expect(before.valueOf("parley_rejects_total", { code: "INTERNAL" })).toBe(0);
    expect(before.valueOf("parley_queue_messages_total", { queue: "relay", result: "dead" })).toBe(0);
    const after = shown({ "problems:room": 7, "rejects:MUTED": 2, "queue:relay,dead": 1 });
    expect(after.valueOf("parley_problems_total", { object: "room" })).toBe(7);
    expect(after.valueOf("parley_problems_total", { object: "lobby" })).toBe(0);
    expect(after.valueOf("parley_rejects_total", { code: "MUTED" })).toBe(2);
    expect(after.valueOf("parley_queue_messages_total", { queue: "relay", result: "dead" })).toBe(1);
  });

  it("makes buckets cumulative, with sum and count", () => {
    const meter = new Meter();
    for (const seconds of [0, 0.03, 0.03, 99]) meter.observe("commit", seconds);
    const exposition = shown(meter.read());
    expect(exposition.valueOf("parley_commit_seconds_bucket", { le: "0.001" })).toBe(1);
    expect(exposition.valueOf("parley_commit_seconds_bucket", { le: "0.05" })).toBe(3);
    expect(exposition.valueOf("parley_commit_seconds_bucket", { le: "10" })).toBe(3);
    expect(exposition.valueOf("parley_commit_seconds_bucket", { le: "+Inf" })).toBe(4);
    expect(exposition.valueOf("parley_commit_seconds_count")).toBe(4);
    expect(exposition.valueOf("parley_commit_seconds_sum")).toBeCloseTo(99.06);
  });

  it("has no falling sum where the clock was set back between a message and its write", () => {
    const meter = new Meter();
    countCommit(meter, [-5000, 20]);
    expect(shown(meter.read()).valueOf("parley_commit_seconds_sum")).toBeCloseTo(0.02);
  });

  it("stays readable with any labels, and leaves out unknown families", () => {
    const evil = 'a"b\\c\nd}';
    const text = expose({
      totals: { "unknown:x": 1, "posted:x": 1, "__proto__:x": 1, "wakes:alarm": 1, "http:a,b,c": 1 },
      gauges: { top_connections: [{ labels: [evil], value: 1 }] },
      top: {},
    });
    expect(text).toContain('room="a\\"b\\\\c\\nd}"');
    const exposition = expositionOf(text);
    expect(exposition.labelsOf("parley_top_room_connections", "room")).toHaveLength(1);
    expect(exposition.valueOf("parley_messages_posted_total")).toBe(0);
  });

  it("passes promtool", (ctx) => {
    const text = expose({ totals: { "wakes:alarm,ping": 3, "commit:0": 1, "commit:sum": 0.1 }, gauges: {}, top: {} });
    const { error, status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
      input: text,
      encoding: "utf8",
    });
    ctx.skip(error !== undefined, "no promtool on this machine");
    expect([status, stdout, stderr]).toEqual([0, "", ""]);
  });
});

describe("the usage of a room", () => {
  it("follows from its counts", () => {
    const counts = {
      posted: 2,
      "frames_in:websocket": 40,
      "frames_in:polling": 7,
      "frames_out:websocket": 5,
      "requests:call": 3,
      "requests:alarm": 2,
      "rows:room": 9,
      alarms_set: 1,
      awake_ms: 500,
      "wakes:alarm,ping": 4,
      "wakes:poll,polling": 1,
      "events:typing": 8,
    };
    const usage = usageOf(addUsage(addUsage([1], counts), {}));
    const expected = {
      posted: 3,
      framesIn: 40,
      framesOut: 5,
      requests: 5,
      alarms: 2,
      rows: 9,
      alarmsSet: 1,
      awakeMs: 500,
    };
    expect(usage).toMatchObject({ ...expected, wokenByAlarm: 4, wokenByMessage: 1 });
    expect(wakesOf(usage)).toBe(5);
    // A data point of Analytics Engine takes 20 numbers: three of the room, and these without `wokenByWatch`.
    expect(USAGE_NAMES.length - 1).toBeLessThanOrEqual(17);
  });

  it("has the cost of the platform's formula", () => {
    const usage = { ...NO_USAGE, rows: 1e6, alarmsSet: 1e6, framesIn: 2e7, requests: 1e6, awakeMs: 1e9 };
    const cost = costOf(usage);
    expect(cost.rows).toBeCloseTo(2);
    expect(cost.requests).toBeCloseTo(0.3);
    expect(cost.duration).toBeCloseTo(1.6);
    expect(cost.total).toBeCloseTo(3.9);
    expect(costOf(usage, { ...PRICES, perMillionRowsWritten: 2 }).rows).toBeCloseTo(4);
  });

  it("ranks rooms by their recent usage, not by sums since the beginning", () => {
    const lobby = new MemoryLobby();
    const tell = (room: string, counts: Counts): void =>
      void lobby.report({ ...ROOM_REPORT, room, madeAtMs: lobby.nowMs, delta: { id: lobby.nowMs, counts } });
    const first = (sort: UsageSort): string => lobby.usage({ sort, limit: 1 })[0]!.room;
    tell("old", { delivered: 1e6, rows: 1e6, "wakes:alarm,ping": 1e6, awake_ms: 1e10 });
    lobby.advance(24 * 3_600_000);
    tell("pinned", { awake_ms: 3_600_000, delivered: 1 });
    for (const sort of ["awake", "cost"] as const) expect(first(sort), sort).toBe("pinned");
    tell("busy", { delivered: 1000, rows: 500, "wakes:alarm,ping": 100 });
    for (const sort of ["traffic", "rows", "wakes"] as const) expect(first(sort), sort).toBe("busy");
  });

  it("gives the hourly rate of an even use, from the first ten minutes on", () => {
    const hourly = (recent: RecentUsage, nowMs: number): number => recentAt(recent, nowMs)[0]! / recentHours(nowMs);
    for (const everyMs of [5000, 60_000, 1_800_000]) {
      let recent: RecentUsage | undefined;
      let furthestOff = 0;
      const go = (perHour: number, fromMs: number, untilMs: number): void => {
        for (let nowMs = fromMs; nowMs <= untilMs; nowMs += everyMs) {
          recent = addRecent(recent, { posted: (perHour * everyMs) / 3_600_000 }, nowMs);
          if (fromMs > 0 || nowMs < 600_000 || everyMs > 600_000) continue;
          furthestOff = Math.max(furthestOff, Math.abs(hourly(recent, nowMs) / perHour - 1));
        }
        expect(furthestOff).toBeLessThan(0.2);
      };
      const dayMs = 24 * 3_600_000;
      go(3600, 0, dayMs);
      expect(Math.abs(hourly(recent!, dayMs) / 3600 - 1)).toBeLessThan(0.02);
      go(720, dayMs + everyMs, 2 * dayMs);
      expect(Math.abs(hourly(recent!, 2 * dayMs) / 720 - 1)).toBeLessThan(0.02);
      expect(hourly(recent!, 3 * dayMs)).toBeLessThan(0.001);
    }
  });

  it("lists rooms that are busy, not rooms that were", () => {
    const lobby = new MemoryLobby();
    const tell = (room: string, delivered: number): void =>
      void lobby.report({
        ...ROOM_REPORT,
        room,
        madeAtMs: lobby.nowMs,
        delta: { id: lobby.nowMs, counts: { delivered } },
      });
    for (let i = 0; i < 2 * TOP_ROOMS; i++) tell(`once-${i}`, 10_000);
    const named = (): string[] => lobby.scrape().top.map(({ room }) => room);
    expect(named()).not.toContain("now");
    lobby.advance(12 * 3_600_000);
    tell("now", 50);
    expect(named()[0]).toBe("now");
    lobby.advance(SAVE_WINDOW_MS_MAX);
    lobby.restart();
    expect(named()[0]).toBe("now");
    tell("once-7", 60);
    expect(named().slice(0, 2)).toEqual(["once-7", "now"]);
  });

  it("gives the cost of a month, if the room was counted for long enough", () => {
    const usage = { ...NO_USAGE, rows: 1000 };
    expect(monthlyCost(usage, MEASURED_MS_MIN - 1)).toBeUndefined();
    expect(monthlyCost(usage, 24 * 3_600_000)!.total).toBeCloseTo(0.03);
  });
});

describe("counter deltas that are sent again: MET-2", () => {
  it("count once, however long the lobby's answers were lost, and though it slept meanwhile", () => {
    for (const isAsleepBetween of [false, true]) {
      const lobby = new MemoryLobby();
      const delta: CounterDelta = { id: lobby.nowMs, counts: { posted: 4 } };
      // A room retries its reports after a minute, then two, then four; none of them is answered.
      for (const afterMs of [0, 60_000, 120_000, 240_000]) {
        lobby.advance(afterMs);
        lobby.report({ ...ROOM_REPORT, madeAtMs: lobby.nowMs, delta });
        lobby.advance(2 * SAVE_WINDOW_MS_MAX);
        if (isAsleepBetween) lobby.restart();
      }
      const { totals, top } = lobby.scrape();
      expect([totals["posted"], top[0]!.usage.posted]).toEqual([4, 4]);
    }
  });

  it("no number is lower after a crash of the lobby than it was shown before, also of single rooms: MET-3", () => {
    const lobby = new MemoryLobby();
    const shownOf = (): object => {
      const { totals, top } = lobby.scrape();
      return { all: totals["delivered"], ...Object.fromEntries(top.map(({ room, usage }) => [room, usage.delivered])) };
    };
    const tell = (room: string, id: number, delivered: number): void =>
      void lobby.report({ ...ROOM_REPORT, room, delta: { id, counts: { delivered } } });
    // Two rooms in different rows, with a row full of rooms between them.
    tell("first", 1, 10);
    for (let i = 0; i < ENTRIES_PER_PAGE; i++) tell(`room-${i}`, 1, 1);
    tell("last", 1, 10);
    lobby.advance(SAVE_WINDOW_MS_MAX);
    for (const room of ["first", "room-0", "last"]) tell(room, 2, 5);
    const shown = shownOf();
    expect(shown).toMatchObject({ all: 35 + ENTRIES_PER_PAGE, first: 15, last: 15 });
    lobby.restart();
    expect(shownOf()).toEqual(shown);
  });

  it("count once, in any order", () => {
    const seen = new NewestNumbers({ takesEqual: false });
    const accepted = (source: string, id: number): boolean => seen.take(source, id);
    expect([accepted("a", 5), accepted("a", 5), accepted("a", 4), accepted("b", 4), accepted("a", 6)]).toEqual([
      true,
      false,
      false,
      true,
      true,
    ]);
  });

  it("are known from storage after the lobby slept, and a clock that was set back does not stop counting", () => {
    const seen = new NewestNumbers({ takesEqual: false });
    expect(seen.take("a", 1_000_000, 1_000_000)).toBe(false);
    expect(seen.take("a", 1_000_001, 1_000_000)).toBe(true);
    expect(seen.take("a", 1000)).toBe(true);
  });
});
