// Tests the model behind `npm run cost` against rooms of the core on a virtual clock, and against sums done by hand.
import { describe, expect, it } from "vitest";

import { readArguments } from "../../scripts/cost/arguments.ts";
import { billOf } from "../../scripts/cost/bill.ts";
import { workloadOf } from "../../scripts/cost/from-run.ts";
import type { LoadReport } from "../../scripts/load/report.ts";
import { commitsOf } from "../../scripts/cost/commits.ts";
import { eventsOf, WORKLOAD } from "../../scripts/cost/model.ts";
import { climb, peerCosts } from "../../scripts/cost/peers.ts";
import { readPrices } from "../../scripts/cost/prices.ts";
import { sensitivities } from "../../scripts/cost/sensitivity.ts";
import { textOf } from "../../scripts/cost/text.ts";
import { PRICES as ROOM_PRICES } from "../../src/metrics/cost.ts";
import { BATCH_POSTS_MAX } from "../../src/chat/posting/posts.ts";
import { ChatRoom, SETTINGS, UNLIMITED } from "../host/chat-room.ts";

const PRICES = readPrices();
const WINDOW_MS = SETTINGS.flushWindowMs;

/** The same numbers each time, from 0 to 1. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}

/** In a room of one connection, which may use its whole burst. */
async function rowsOfRoom(perSecond: number, flushBurst: number, count: number, random: () => number): Promise<number> {
  const room = new ChatRoom({ messageRate: UNLIMITED, flushBurst });
  const ada = await room.join("ada");
  let atMs = room.shell.nowMs;
  for (let i = 0; i < count; i++) {
    atMs += (-Math.log(1 - random()) / perSecond) * 1000;
    // A clock of whole milliseconds, as the platform's is.
    const pauseMs = Math.round(atMs) - room.shell.nowMs;
    if (pauseMs > 0) room.shell.advance(pauseMs);
    ada.emit("chat-message", { content: "x" });
  }
  room.quiet();
  return room.log.batches.length;
}

describe("rows per message", () => {
  it.each([1, 4].flatMap((burst) => [0.1, 2, 10, 40, 200].map((perSecond) => [perSecond, burst] as const)))(
    "%s independent posts a second, %s batches at once: within 5 % of a room",
    async (perSecond, burst) => {
      // Long enough that the burst at the beginning hardly counts.
      const [rooms, count] = perSecond > 100 ? [2, 3000] : [4, 500];
      let counted = 0;
      for (let seed = 1; seed <= rooms; seed++)
        counted += await rowsOfRoom(perSecond, burst, count, seeded(seed * 1009));
      const predicted = rooms * count * commitsOf(perSecond, { windowMs: WINDOW_MS, burst }).perPost;
      expect(Math.abs(predicted - counted) / counted).toBeLessThan(0.05);
    },
  );

  it("knows how many messages one row takes", () => {
    expect(commitsOf(1e6, { windowMs: WINDOW_MS, burst: 1 }).perPost).toBe(1 / BATCH_POSTS_MAX);
    expect(commitsOf(0, { windowMs: WINDOW_MS, burst: 1 }).perPost).toBe(1);
    expect(commitsOf(5, { windowMs: 0, burst: 1 }).perPost).toBe(1);
  });

  it("a batch waits for less than its window, and longer the busier the room", () => {
    const waits = [0, 1, 10, 100, 1000].map(
      (perSecond) => commitsOf(perSecond, { windowMs: 50, burst: 1 }).waitSeconds,
    );
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits[0]).toBe(0);
    expect(waits.at(-1)).toBeLessThan(0.05);
  });
});

describe("a month", () => {
  const events = eventsOf(WORKLOAD);

  it("multiplies out the events of a workload", () => {
    expect(events.posts).toBeCloseTo(10_000 * 1.5 * 60 * 8 * 30);
    expect(events.deliveries).toBeCloseTo(events.posts * 50);
    expect(events.upgrades).toBe(900_000);
    expect(events.framesIn).toBeCloseTo(events.posts + events.upgrades);
    expect(events.heartbeats).toBeCloseTo((10_000 * 8 * 3600 * 30) / 45);
    expect(eventsOf({ ...WORKLOAD, durability: "relaxed" }).commits).toBe(events.commits);
    const busy = { ...WORKLOAD, rooms: 10 };
    expect(eventsOf({ ...busy, durability: "relaxed" }).commits).toBeLessThan(eventsOf(busy).commits);
  });

  it("is billed by line item; the plan's included amounts are not", () => {
    const { lines, total } = billOf(events, PRICES);
    const dollarsOf = (item: string): number => lines.find((line) => line.item === item)!.dollars;
    expect(dollarsOf("Workers Paid plan")).toBe(5);
    expect(dollarsOf("rows written, alarms set")).toBeCloseTo((events.rowsWritten + events.alarms - 50e6) / 1e6);
    expect(dollarsOf("rows read")).toBe(0);
    expect(total).toBeCloseTo(lines.reduce((sum, { dollars }) => sum + dollars, 0));
  });

  it("without users costs the plan", () => {
    expect(billOf(eventsOf({ ...WORKLOAD, onlineHours: 0, connectsPerUserDay: 0 }), PRICES).total).toBe(5);
  });

  it("costs a room of own clients no alarms, and one with polls its sleep", () => {
    const idle = { ...WORKLOAD, messagesPerUserMinute: 0, connectsPerUserDay: 0 };
    expect(eventsOf({ ...idle, shimShare: 1 }).alarms).toBe(0);
    expect(eventsOf(idle).alarms).toBeCloseTo((200 * 8 * 3600 * 30) / 45);
    expect(eventsOf({ ...idle, pollingShare: 1 }).awakeSeconds).toBeCloseTo(200 * 8 * 3600 * 30);
  });
});

describe("elsewhere", () => {
  it("climbs a ladder of prices: the example of its own documentation", () => {
    expect(climb(PRICES.ably.messagesPerMillion, 120e6)).toBeCloseTo(282.5);
    expect(climb(PRICES.ably.minutesPerMillion, 140e6)).toBeCloseTo(129.5);
    expect(climb(PRICES.ably.messagesPerMillion, 0)).toBe(0);
  });

  it("takes the smallest plan that fits, and marks services without a published one", () => {
    const costOf = (changed: Partial<typeof WORKLOAD>) => {
      const workload = { ...WORKLOAD, ...changed };
      return peerCosts(workload, eventsOf(workload), PRICES).find(({ name }) => name.startsWith("Pusher"))!;
    };
    expect(costOf({ users: 400, rooms: 8, messagesPerUserMinute: 0.01 })).toMatchObject({ dollars: 49 });
    expect(costOf({ users: 9000, rooms: 180, messagesPerUserMinute: 0.01 })).toMatchObject({ dollars: 499 });
    expect(costOf({ users: 100_000 })).toMatchObject({ dollars: undefined, how: /no published plan/ });
  });

  it("every price has a date and a source", () => {
    expect(PRICES.lookedUp).toMatch(/^\d{4}-\d\d-\d\d$/);
    for (const { source } of [PRICES.cloudflare, PRICES.selfHosted, PRICES.pusher, PRICES.ably, PRICES.pubnub])
      expect(source).toMatch(/https:\/\//);
  });
});

describe("changes that would double the bill", () => {
  it("is found for each number, by trying it", () => {
    const total = billOf(eventsOf(WORKLOAD), PRICES).total;
    const byName = new Map(sensitivities(WORKLOAD, PRICES).map((one) => [one.what, one]));
    const { doublesAt } = byName.get("messages per user and minute")!;
    const doubled = billOf(eventsOf({ ...WORKLOAD, messagesPerUserMinute: doublesAt! }), PRICES).total;
    expect(doubled / total).toBeCloseTo(2, 3);
    expect(byName.get("days of history")!.doublesAt).toBeUndefined();
  });
});

it("refuses a load test without members or posts, with the reason", () => {
  const report = (connected: number, postingTo: number): LoadReport =>
    ({
      asked: { rooms: 1, shimShare: 0, pollingShare: 0, payloadBytes: 100 },
      messages: { acks: 0 },
      connections: { in: connected },
      phases: { connectedAt: 1, postingFrom: 2, postingTo, finishedAt: 3 },
    }) as LoadReport;
  expect(workloadOf(report(5, 62))).toMatchObject({ users: 5, messagesPerUserMinute: 0 });
  for (const empty of [report(0, 62), report(5, 2)]) expect(() => workloadOf(empty)).toThrow(/no user got in/);
});

describe("arguments", () => {
  it("are the workload's numbers by name", () => {
    expect(readArguments(["--users", "5", "--online-hours", "24", "--durability", "relaxed"]).workload).toEqual({
      users: 5,
      onlineHours: 24,
      durability: "relaxed",
    });
    expect(() => readArguments(["--online-hours", "25"])).toThrow(/--online-hours must be a number from 0 to 24/);
    expect(() => readArguments(["--durability", "maybe"])).toThrow(/strict or relaxed/);
    expect(() => readArguments(["--price", "1"])).toThrow(/Unknown option/);
  });
});

it("the text names every line, peer and knob", () => {
  const events = eventsOf(WORKLOAD);
  const asked = { workload: WORKLOAD, bill: billOf(events, PRICES), peers: peerCosts(WORKLOAD, events, PRICES) };
  const text = textOf({
    lookedUp: PRICES.lookedUp,
    asked,
    remarks: [],
    scaled: [],
    sensitivities: sensitivities(WORKLOAD, PRICES),
    missing: PRICES.missing,
  });
  for (const needle of ["rows written, alarms set", "Ably", "PubNub", "Pusher", "Redis", "What would double"])
    expect(text).toContain(needle);
  expect(text).not.toMatch(/NaN|undefined/);
});

it("a room's own cost uses the prices of a bill", () => {
  const { objectRequests, objectGbSeconds, objectGb, framesPerRequest, rowsWritten } = PRICES.cloudflare;
  expect(ROOM_PRICES).toMatchObject({
    asOf: PRICES.lookedUp,
    perMillionRowsWritten: rowsWritten.perMillion,
    perMillionRequests: objectRequests.perMillion,
    perMillionGbSeconds: objectGbSeconds.perMillion,
    messagesPerRequest: framesPerRequest,
    objectGb,
  });
});
