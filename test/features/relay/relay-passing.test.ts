// Tests how rooms pass messages on: timing, batches, costs, failures.
import { describe, expect, it } from "vitest";

import { LOOKED_AT_AGAIN_MAX } from "../../../src/features/relay/link.ts";
import { RELAY_RETRY_MS } from "../../../src/features/relay/links.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { RELAY_VERSION, type RelayBatch } from "../../../src/protocol/relay-batch.ts";
import { ROOTS_KEPT_MAX } from "../../../src/features/relay/receiver.ts";
import { isTooLargeForQueue, RELAY_BYTES_MAX, RELAY_ITEMS_MAX } from "../../../src/relay/packing.ts";
import { change, linked, RelayWorld, say } from "../../host/relay-world.ts";

describe("passing on", () => {
  it("RLY-2: a quiet room sends at once, a busy one once per window", async () => {
    const world = linked();
    world.say("a", "1");
    await world.pass(1);
    expect(world.story("b")).toHaveLength(1);
    for (const content of ["2", "3", "4"]) {
      world.say("a", content);
      await world.pass(200);
    }
    expect(world.story("b")).toHaveLength(1);
    await world.pass(500);
    expect(world.sent.map(({ posts }) => posts.items.length)).toEqual([1, 3]);
  });

  it("RLY-2: a room that a post woke sends at once", async () => {
    const world = linked();
    await world.pass(60_000);
    world.room("a").shell.evict();
    world.say("a", "1");
    await world.pass(100);
    expect(world.story("b")).toHaveLength(1);
  });

  it("RLY-2: batches fit into the queue and follow one another", async () => {
    const world = linked([["a", "b"]], "queue");
    for (let i = 0; i < 250; i++) world.say("a", "ä".repeat(i % 2 === 0 ? 900 : 1), `user-${i % 30}`);
    await world.pass(1100);
    for (const batch of world.sent) {
      expect(batch.posts.items.length).toBeLessThanOrEqual(RELAY_ITEMS_MAX);
      expect(Buffer.byteLength(JSON.stringify(batch.posts.items))).toBeLessThanOrEqual(RELAY_BYTES_MAX + 2);
      expect(isTooLargeForQueue(batch)).toBe(false);
    }
    expect(world.sent.flatMap(({ posts }) => posts.items)).toHaveLength(250);
  });

  it("RLY-2: one message may be larger, in a batch of its own", async () => {
    const world = new RelayWorld(["a", "b"], "direct", { maxContentLength: 100_000 });
    world.link("a", "b");
    await say(world, "a", "1", "語".repeat(90_000), "3");
    expect(world.sent.map(isTooLargeForQueue)).toEqual([false, true, false]);
    expect(world.room("b").log.messages.map(({ content }) => content.length)).toEqual([1, 90_000, 1]);
  });

  it("RLY-2: a failing link retries with doubled waits, through sleep, and wakes no other link", async () => {
    const world = linked([
      ["a", "b"],
      ["a", "c"],
    ]);
    world.mood = "refuses";
    await say(world, "a", "1");
    await world.pass(15_000);
    const { shell } = world.room("a");
    expect(shell.problems.filter(({ problem }) => problem.includes("passed on to b"))).toHaveLength(5);
    expect(shell.canSleep).toBe(true);
    shell.evict();
    await world.pass(10_000);
    expect(shell.problems).toHaveLength(10);
    world.mood = "takes";
    await world.pass(RELAY_RETRY_MS.max);
    expect([world.story("b"), world.story("c")]).toEqual([["ada: 1 (a 1)"], ["ada: 1 (a 1)"]]);
  });

  it("the delay is measured by the room where RELAY is direct, and by the consumer where it is queue", async () => {
    const lag = (world: RelayWorld): { batches: number; seconds: number } => {
      const { counts } = world.room("a").chat.parts.counters.unreported(0);
      const lags = Object.entries(counts).filter(([series]) => series.startsWith("relay_lag:"));
      const batches = lags.filter(([series]) => series !== "relay_lag:sum").reduce((sum, [, count]) => sum + count, 0);
      return { batches, seconds: counts["relay_lag:sum"] ?? 0 };
    };
    const world = linked();
    await say(world, "a", "1");
    expect(lag(world)).toMatchObject({ batches: 1 });
    expect(lag(world).seconds).toBeLessThan(2);
    world.mood = "refuses";
    await say(world, "a", "2");
    await say(world, "a", "3");
    await world.pass(30_000);
    expect(lag(world).batches).toBe(1);
    world.mood = "takes";
    await world.pass(60_000);
    expect(world.story("b")).toHaveLength(3);
    expect(lag(world).batches).toBe(2);
    expect(lag(world).seconds).toBeGreaterThan(31);
    const queued = linked([["a", "b"]], "queue");
    await say(queued, "a", "1");
    expect([queued.queue.length, lag(queued).batches]).toEqual([1, 0]);
  });

  it("RLY-2: posts do not wait for links", async () => {
    const world = linked();
    world.mood = "is silent";
    world.say("a", "1");
    world.say("a", "2");
    await world.pass(100);
    expect(world.story("a")).toEqual(["ada: 1", "ada: 2"]);
  });

  it("RLY-3: loses and repeats no message where either side cannot store its progress", async () => {
    const world = linked();
    for (const name of ["a", "b"]) {
      world.room(name).state.failure = new Error("disk full");
      await say(world, "a", `while ${name} fails`);
      world.room(name).shell.crash();
      world.room(name).state.failure = undefined;
      await world.pass(RELAY_RETRY_MS.max);
    }
    expect(world.arrived("b", "a")).toEqual([1, 2]);
  });

  it("RLY-2: unreadable messages are skipped and reported", async () => {
    const world = linked();
    world.mood = "refuses";
    await say(world, "a", "1");
    world.room("a").log.unreadable = new Error("disk on fire");
    world.mood = "takes";
    await world.pass(5000);
    expect(world.story("b")).toEqual([]);
    world.room("a").log.unreadable = undefined;
    await world.pass(60_000);
    expect(world.story("b")).toEqual(["ada: 1 (a 1)"]);
  });
});

describe("a queue that loses something", () => {
  it("RLY-4: the link does not rewind again while the answer is under way", async () => {
    const world = linked([["a", "b"]], "queue");
    await say(world, "a", "1");
    world.lose();
    for (const content of ["2", "3", "4"]) await say(world, "a", content);
    const { length } = world.sent;
    const early = world.queue.slice();
    for (let i = 0; i < 4; i++) {
      world.consume({ picks: early.map((_, at) => at) });
      await world.pass(1100);
    }
    expect(world.sent.length).toBe(length + 1);
  });
});

describe("costs", () => {
  it("RLY-10: one row per flush here for all links, and one per batch on the other side", async () => {
    const world = linked([
      ["a", "b"],
      ["a", "c"],
    ]);
    await say(world, "a", "first");
    const before = ["a", "b", "c"].map((name) => world.room(name).state.writes);
    await say(world, "a", ...Array.from({ length: 50 }, (_, i) => `${i}`));
    const after = ["a", "b", "c"].map((name, i) => world.room(name).state.writes - before[i]!);
    expect(after[0]).toBeLessThanOrEqual(2);
    expect(after[1]).toBeLessThanOrEqual(2);
    expect(world.story("c")).toHaveLength(51);
  });

  it("RLY-10: a room without links writes no row and sets no deadline", async () => {
    const world = new RelayWorld(["a", "b"], "queue");
    await say(world, "a", "1", "2");
    await change(world, "a", "edit-message", { content: "3" }, "ada");
    expect(world.room("a").state.writes).toBe(0);
    expect(world.sent).toEqual([]);
  });

  it("RLY-10: messages that do not cross back cost nothing, except a row for LOOKED_AT_AGAIN_MAX of them", async () => {
    const world = linked([
      ["a", "b"],
      ["b", "a"],
    ]);
    await say(world, "a", "1");
    const { writes } = world.room("b").state;
    for (let i = 0; i < 20; i++) await say(world, "a", `${i}`);
    expect(world.room("b").state.writes - writes).toBe(20);
    for (let i = 0; i < LOOKED_AT_AGAIN_MAX; i++) world.say("a", `${i}`, `user-${i % 50}`);
    await world.pass(5000);
    const batches = world.sent.filter(({ from }) => from === "a").length - 21;
    expect(world.room("b").state.writes - writes - 20 - batches).toBe(1);
    expect(world.sent.filter(({ from }) => from === "b")).toEqual([]);
  });
});

it("RLY-3: a room remembers positions of ROOTS_KEPT_MAX origin rooms per link", () => {
  const world = new RelayWorld(["hub"], "direct");
  const batchOf = (count: number, after: number): RelayBatch => ({
    v: RELAY_VERSION,
    from: "a",
    to: "hub",
    epoch: "e",
    sinceSeq: 0,
    linkedAtMs: 1,
    posts: {
      after,
      upTo: after + count,
      items: Array.from({ length: count }, (_, i) => ({
        seq: after + i + 1,
        sender: "s",
        name: "s",
        content: "c",
        hops: 2,
        root: {
          room: `r${after + i}`,
          epoch: "e",
          seq: 1,
        },
      })),
    },
    changes: {
      after: 1,
      upTo: 1,
      items: [],
    },
  });
  world.deliver("hub", [batchOf(ROOTS_KEPT_MAX + 10, 0)]);
  const [[, mark]] = [...world.room("hub").state.list({ prefix: "relay:from:" })] as [[string, { roots: unknown[] }]];
  expect(mark.roots).toHaveLength(ROOTS_KEPT_MAX);
  expect(world.room("hub").log.messages.map(({ origin }: Message) => origin?.room)).toContain("r0");
});
