// Tests the bill of `npm run cost`: its counts against rooms of the core on a virtual clock, sums done by hand, and what it refuses and remarks.
import { describe, expect, it } from "vitest";

import { billOf, quantitiesOf, rowsPerMessage, USUAL, type Usage } from "../../scripts/measure/bill.ts";
import { htmlOf, textOf } from "../../scripts/measure/report.ts";
import { costReport, parseRun, readArguments } from "../../scripts/measure/usage.ts";
import { BATCH_POSTS_MAX } from "../../src/chat/posting/posts.ts";
import { PRICES } from "../../src/metrics/cost.ts";
import { readSettings } from "../../src/settings/settings.ts";
import { BigRoom } from "../host/big-room.ts";
import { ChatRoom, UNLIMITED } from "../host/chat-room.ts";
import { readingOf } from "./readings.ts";

/** The same numbers each time, from 0 to 1. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}

/** Independent posts in a room of one connection. @returns the rows that it writes */
async function rowsOfRoom(perSecond: number, flushBurst: number, count: number): Promise<number> {
  const random = seeded(1009);
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
  it.each([
    [0.1, 1],
    [10, 1],
    [200, 1],
    [10, 8],
    [200, 8],
  ])(
    "%s independent posts a second, %s batches at once: a room writes at most as many, and hardly fewer",
    async (perSecond, burst) => {
      const count = perSecond > 100 ? 3000 : 500;
      const counted = await rowsOfRoom(perSecond, burst, count);
      const bound = count * rowsPerMessage(perSecond, 1);
      // Once, at the beginning, it commits some batches ahead.
      expect(counted).toBeLessThanOrEqual(bound * 1.02 + burst);
      expect(counted).toBeGreaterThan(bound * 0.7);
    },
  );

  it("are no fewer than one for as many messages as a row takes, and one for a lone message", () => {
    expect(rowsPerMessage(1e6, 1)).toBe(1 / BATCH_POSTS_MAX);
    expect(rowsPerMessage(0, 1)).toBe(1);
  });
});

describe("calls to nine shards: SHD-14", () => {
  /** Independent posts in a room with the windows of 10,000 members. @returns the share of the calls that are billed */
  async function shareOfRoom(perSecond: number): Promise<number> {
    const random = seeded(2003);
    const settings = { messageRate: UNLIMITED, maxMembers: 1, flushWindowMs: 500, flushBurst: 2 };
    const big = new BigRoom(settings, { maxShards: 9, fanOut: 9 });
    const ada = await big.room.join("ada");
    for (let i = 0; i < 9; i++) await big.join(`user-${i}`, i);
    await big.pass(5000);
    const counted = (): readonly [requests: number, calls: number] => {
      const { requests, calls } = big.shard(4);
      return [requests, calls.length];
    };
    const before = counted();
    for (let i = 0; i < 100 + 30 * perSecond; i++) {
      await big.pass(Math.round((-Math.log(1 - random()) / perSecond) * 1000));
      ada.emit("chat-message", { content: "x" });
    }
    const after = counted();
    return (after[0] - before[0]) / (after[1] - before[1]);
  }

  it.each([0.2, 2, 10])("%s independent posts a second: as many are billed as in a room", async (perSecond) => {
    const hall: Usage = { ...USUAL, users: 10_000, rooms: 1, maxMembers: 1000, connectsPerUserDay: 0 };
    const { shardCalls, posts } = quantitiesOf({ ...hall, messagesPerUserMinute: (perSecond * 60) / 10_000 });
    const share = (shardCalls - 0.9 * posts) / (9 * posts * rowsPerMessage(perSecond, 10_000));
    expect(Math.abs((await shareOfRoom(perSecond)) - share)).toBeLessThan(0.1);
  });
});

describe("a month", () => {
  const month = quantitiesOf(USUAL);

  it("multiplies out the quantities of a workload", () => {
    expect(month.posts).toBeCloseTo(10_000 * 1.5 * 60 * 8 * 30);
    expect(month.upgrades).toBe(900_000);
    expect(month.framesIn).toBeCloseTo(month.posts + month.upgrades);
    expect(month.heartbeats).toBeCloseTo((10_000 * 8 * 3600 * 30) / 45);
  });

  it("is billed by line item, without the amounts that the plan includes", () => {
    const { lines, total } = billOf(month);
    const dollarsOf = (item: string): number => lines.find((line) => line.item === item)!.dollars;
    expect(dollarsOf("Workers Paid plan")).toBe(5);
    expect(dollarsOf("rows written, alarms set")).toBeCloseTo((month.rowsWritten + month.alarms - 50e6) / 1e6);
    expect(dollarsOf("rows read")).toBe(0);
    expect(total).toBeCloseTo(lines.reduce((sum, { dollars }) => sum + dollars, 0));
    expect(billOf(quantitiesOf({ ...USUAL, onlineHours: 0, connectsPerUserDay: 0 })).total).toBe(5);
  });

  it("takes the rows that a load test counted", () => {
    const half = quantitiesOf({ ...USUAL, rowsPerMessage: 0.5 });
    expect(month.rowsWritten - half.rowsWritten).toBeCloseTo(month.posts / 2);
  });

  it("costs a silent room of Parley's own clients no alarms, and one with polls its sleep", () => {
    const idle = { ...USUAL, messagesPerUserMinute: 0, connectsPerUserDay: 0 };
    expect(quantitiesOf({ ...idle, shimShare: 1 }).alarms).toBe(0);
    expect(quantitiesOf(idle).alarms).toBeCloseTo((200 * 8 * 3600 * 30) / 45);
    expect(quantitiesOf({ ...idle, pollingShare: 1 }).awakeSeconds).toBeCloseTo(200 * 8 * 3600 * 30);
  });

  it("costs a big room calls to and from shards, their time, and a row for each time that they fall quiet", () => {
    const asked: Usage = { ...USUAL, users: 10_000, rooms: 1, onlineHours: 1, connectsPerUserDay: 1 };
    const bound = quantitiesOf({ ...asked, maxMembers: 10_000 });
    const shared = quantitiesOf({ ...asked, maxMembers: 1000 });
    expect([bound.shardCalls, shared.posts]).toEqual([0, bound.posts]);
    // Nine tenths of the members post by way of a shard, and come and go there. Batches reach all shards in sessions.
    expect(shared.shardCalls).toBeCloseTo(0.9 * (shared.posts + 4 * 10_000 * 30), 0);
    expect(shared.awakeSeconds - bound.awakeSeconds).toBeGreaterThan(0.9 * 9 * 30 * 3600);
    expect(shared.rowsWritten - bound.rowsWritten).toBeLessThan(200);
    const quiet = { ...asked, messagesPerUserMinute: 0.0001 };
    const rowsWith = (maxMembers: number): number => quantitiesOf({ ...quiet, maxMembers }).rowsWritten;
    expect(rowsWith(1000) - rowsWith(10_000)).toBeGreaterThan(0.9 * 9 * quantitiesOf(quiet).posts);
  });
});

describe("arguments", () => {
  it("are the workload's numbers by name", () => {
    expect(readArguments(["--users", "5", "--online-hours", "24"]).usage).toEqual({ users: 5, onlineHours: 24 });
    expect(() => readArguments(["--online-hours", "25"])).toThrow(/--online-hours must be a number from 0 to 24/);
    expect(() => readArguments(["--price", "1"])).toThrow(/Unknown option/);
  });

  it("may not name more than all users by their kinds, also together with a load test", () => {
    const refusal = "--shim and --polling must not exceed 1 together: they are 0.7 and 0.7.";
    expect(() => costReport({ shimShare: 0.7, pollingShare: 0.7 })).toThrow(refusal);
    expect(() => costReport({ shimShare: 0.7 }, readingOf({ workload: { polling: 0.7 } }))).toThrow(refusal);
  });
});

describe("a load test", () => {
  const read = (changes: Parameters<typeof readingOf>[0] = {}) =>
    parseRun(JSON.stringify(readingOf(changes)), "load.json");
  const usageOf = (...args: Parameters<typeof costReport>) => (costReport(...args).data as { usage: Usage }).usage;

  it("is the workload of a bill, and options win over it", () => {
    expect(usageOf({}, read({ messages: { acks: 300 } }))).toMatchObject({
      users: 150,
      rooms: 10,
      messagesPerUserMinute: 2,
      payloadBytes: 100,
    });
    expect(usageOf({ rooms: 3 }, read())).toMatchObject({ rooms: 3, onlineHours: 8 });
    expect(usageOf({}, read({ counted: { posts: 100, commits: 40 } })).rowsPerMessage).toBe(0.4);
  });

  it("that was not whole makes a bill of the rest, with a note", () => {
    const run = read({ connections: { users: 150, in: 140 }, messages: { posts: 50, acks: 50, unsent: 70 } });
    expect(textOf(costReport({}, run))).toContain(
      "The load test was not whole: 10 of 150 users did not get in; 70 of 120 posts that were due have no ack " +
        "(70 not sent, 0 refused, 0 unanswered). The bill is for what did happen.",
    );
    expect(textOf(costReport({}, read()))).not.toContain("not whole");
  });

  it("without members or posts is refused, with the reason; so is any other file", () => {
    for (const empty of [read({ connections: { in: 0 } }), read({ phases: { postingTo: 2 } })])
      expect(() => costReport({}, empty)).toThrow(/no user got in/);
    expect(() => parseRun("{", "a.json")).toThrow("a.json is no JSON.");
    expect(() => parseRun('{"format":1}', "a.json")).toThrow(/a.json is no report of npm run load: format/);
  });
});

describe("the bill as a report", () => {
  it("names each line, and the date and source of its prices", () => {
    const report = costReport({});
    for (const shown of [textOf(report), htmlOf(report)]) {
      for (const words of ["rows written, alarms set", "Workers Paid plan", "total", PRICES.asOf, PRICES.source])
        expect(shown).toContain(words);
      expect(shown).not.toMatch(/NaN|undefined/);
    }
  });

  it("leaves out empty rooms, with a note", () => {
    const text = textOf(costReport({ users: 10, rooms: 100 }));
    expect(text).toMatch(/\n10 users in 10 rooms/);
    expect(text).toContain("Of 100 rooms at least 90 are empty, and cost nothing: this bill is for 10.");
    expect(textOf(costReport({ users: 10, rooms: 10 }))).not.toContain("empty");
  });

  it("notes the shards that a big room takes, and whether settings allow them", () => {
    const SECRET = { JWT_SECRET: "a secret of thirty-two bytes, or so" };
    const settings = readSettings(SECRET);
    const [usual, shards] = settings.ok ? [settings.settings.maxMembers, settings.settings.maxShards] : [0, 0];
    const noteFor = (wished: Partial<Usage>): string => textOf(costReport({ rooms: 1, ...wished }));
    expect(noteFor({ users: usual })).not.toContain("shard");
    expect(noteFor({ users: usual + 1 })).toContain(
      "5,001 users to a room are more than one object holds (MAX_MEMBERS is 5,000): the room takes 1 shard besides.",
    );
    expect(noteFor({ users: usual * (1 + shards) })).toMatch(/: the room takes 64 shards besides\.\n/);
    expect(noteFor({ users: 1_000_000 })).toContain(
      "the room takes 199 shards besides, and MAX_SHARDS is 64 if nothing else is set, and 1,000 at most.",
    );
    expect(noteFor({ users: 10_000_000 })).toContain("1,000 at most. No server has this bill.");
    expect(readSettings({ ...SECRET, MAX_SHARDS: "1000" }).ok).toBe(true);
    expect(readSettings({ ...SECRET, MAX_SHARDS: "1001" }).ok).toBe(false);
  });
});
