// More shards than one object calls, and shards that nobody needs any more.
import { setImmediate } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { LEAVE_GRACE_MS } from "../../../src/chat/people/presence.ts";
import { SHRINK_AFTER_MS } from "../../../src/chat/shards/growth.ts";
import { HISTORY_LIMIT_MAX } from "../../../src/protocol/limits.ts";
import { BigRoom, seen } from "../../host/big-room.ts";
import type { AnyAnswer } from "../../host/client.ts";
import type { Call, Client } from "../../host/harness.ts";
import { UNLIMITED } from "../../host/chat-room.ts";

describe("the tree: SHD-12", () => {
  it("passes everything on where one object may call only two", async () => {
    const big = new BigRoom({ messageRate: UNLIMITED, maxMembers: 1 }, { fanOut: 2 });
    const ada = await big.room.join("ada");
    const members = await Promise.all([0, 1, 2, 3, 4, 5].map((shard) => big.join(`user-${shard}`, shard)));
    for (let i = 0; i < 5; i++) ada.emit("chat-message", { content: `${i}` });
    const posts = members.map((member) => member.call("chat-message", { content: member.name }));
    await big.pass(3000);
    expect(posts.map(({ answer }) => answer.ok)).toEqual(Array(6).fill(true));
    for (const member of members) expect(seen(member)).toEqual(seen(ada));
    expect(seen(ada)).toHaveLength(11);
  });

  it("mends the shards behind one that died", async () => {
    const big = new BigRoom({ messageRate: UNLIMITED, maxMembers: 1 }, { fanOut: 1 });
    const ada = await big.room.join("ada");
    const [, last] = [await big.join("ben", 0), await big.join("cyd", 1)];
    ada.emit("chat-message", { content: "1" });
    await big.pass(3000);
    big.shard(0).shell.crash();
    ada.emit("chat-message", { content: "2" });
    await big.pass(6000);
    expect(seen(last)).toEqual(["1", "2"]);
  });
});

describe("a shard that passes chunks on, and has no members itself: SHD-12", () => {
  /** A member in the room, and one in shard 1, which gets its chunks by way of shard 0. */
  const chain = async (): Promise<{ big: BigRoom; ada: Client; last: Client }> => {
    const big = new BigRoom({ messageRate: UNLIMITED, maxMembers: 1 }, { fanOut: 1 });
    const [ada, last] = [await big.room.join("ada"), await big.join("cyd", 1)];
    ada.emit("chat-message", { content: "1" });
    // Until nothing is sent any more.
    await big.pass(30_000);
    return { big, ada, last };
  };

  it("may die with a chunk that it took: the shard below gets it without another one", async () => {
    const { big, ada, last } = await chain();
    big.shard(1).failure = new Error("away");
    ada.emit("chat-message", { content: "2" });
    await big.pass(100);
    big.shard(0).shell.crash();
    await big.pass(0);
    big.shard(1).failure = undefined;
    await big.pass(3000);
    expect(seen(last)).toEqual(["1", "2"]);
    expect(last.closing).toBeUndefined();
  });

  it("may die with a count, which is in no log: the shard below gets the present one", async () => {
    const { big, ada, last } = await chain();
    const counts = (): unknown[] =>
      ["typing-count", "presence"].map((event) => last.received<{ count: number }>(event).at(-1)?.count);
    last.emit("typing", { on: true });
    await big.pass(1000);
    expect(counts()).toEqual([1, 2]);
    big.shard(1).failure = new Error("away");
    last.emit("typing", { on: false });
    ada.leave();
    await big.pass(LEAVE_GRACE_MS + 2000);
    big.shard(0).shell.crash();
    await big.pass(0);
    expect(counts()).toEqual([1, 2]);
    big.shard(1).failure = undefined;
    await big.pass(3000);
    expect(counts()).toEqual([0, 1]);
  });

  it("may die before it says that it took a chunk: the shard below, which has it, gets it once, and keeps its connections", async () => {
    const { big, ada, last } = await chain();
    const { receiver, shell } = big.shard(0);
    const take = receiver.take.bind(receiver);
    receiver.take = async (call) => {
      await take(call);
      // Until the shard below has it.
      for (let rounds = 0; rounds < 20; rounds++) await setImmediate();
      shell.crash();
      throw new Error("died");
    };
    ada.emit("chat-message", { content: "2" });
    await big.pass(3000);
    ada.emit("chat-message", { content: "3" });
    await big.pass(3000);
    expect([seen(last), last.closing]).toEqual([["1", "2", "3"], undefined]);
  });

  it("may die with an answer: the connection that waits for it is closed at once", async () => {
    const { big, last } = await chain();
    big.shard(1).failure = new Error("away");
    const asked = last.call("history", { limit: 1 });
    await big.pass(0);
    big.shard(0).shell.crash();
    await big.pass(0);
    big.shard(1).failure = undefined;
    await big.pass(3000);
    expect([asked.acks, last.closing?.code]).toEqual([[], 1012]);
  });

  it("may sleep: nothing is sent, and nobody is closed, because of it", async () => {
    const { big, ada, last } = await chain();
    await big.pass(3000);
    const { length } = big.shard(1).calls;
    big.shard(0).shell.evict();
    ada.emit("chat-message", { content: "2" });
    await big.pass(3000);
    expect([seen(last), last.closing]).toEqual([["1", "2"], undefined]);
    expect(big.shard(1).calls).toHaveLength(length + 1);
  });

  it("tells the room what waits there, so that the requests of the slow shard below are refused, and no answer is dropped: SHD-7", async () => {
    const big = new BigRoom({ messageRate: UNLIMITED, maxMembers: 1 }, { fanOut: 1 });
    const [ada, other, last] = [await big.room.join("ada"), await big.join("ben", 0), await big.join("cyd", 1)];
    for (let i = 0; i < HISTORY_LIMIT_MAX; i++) ada.emit("chat-message", { content: "x".repeat(1000) });
    await big.pass(30_000);
    big.shard(1).failure = new Error("slow");
    const asked: Array<Call<AnyAnswer>> = [];
    for (let round = 0; round < 40; round++) {
      asked.push(last.call("history", { limit: HISTORY_LIMIT_MAX }));
      await big.pass(200);
    }
    const ofOther = other.call("history", { limit: 1 });
    await big.pass(200);
    expect(ofOther.answer).toMatchObject({ ok: true });
    big.shard(1).failure = undefined;
    await big.pass(10_000);
    const codes = asked.map((call) => call.answer.error?.code);
    expect(codes.filter((code) => code === undefined).length).toBeGreaterThan(5);
    expect(new Set(codes)).toEqual(new Set([undefined, "RATE_LIMITED"]));
    expect(last.closing).toBeUndefined();
  });
});

describe("the crowd goes: SHD-11", () => {
  it("its last members come back to the room, which has space for all of them", async () => {
    const big = new BigRoom({ maxMembers: 4 });
    const ada = await big.room.join("ada");
    const ben = await big.join("ben", 0);
    await big.pass(SHRINK_AFTER_MS + 1000);
    expect([ada.closing, ben.closing?.code]).toEqual([undefined, 1012]);
    await big.pass(5000);
    expect(big.room.state.get("shards")).toBeUndefined();
  });

  it("also from a room that nobody is in itself, and that died meanwhile", async () => {
    const big = new BigRoom({ maxMembers: 4 });
    const ada = await big.room.join("ada");
    const ben = await big.join("ben", 0);
    await big.pass(1000);
    ada.leave();
    await big.pass(SHRINK_AFTER_MS / 2);
    const { shell } = big.room;
    if (shell.canSleep) shell.evict();
    await big.pass(SHRINK_AFTER_MS / 2 + 1000);
    expect(ben.closing?.code).toBe(1012);

    const eve = await big.join("eve", 1);
    await big.pass(SHRINK_AFTER_MS / 2);
    big.crash();
    await big.pass(SHRINK_AFTER_MS + 1000);
    expect(eve.closing?.code).toBe(1012);
  });

  it("also where only members of the room itself went, but not while the room fills again", async () => {
    const big = new BigRoom({ maxMembers: 4 });
    const [, bob, ben] = [await big.room.join("ada"), await big.room.join("bob"), await big.join("ben", 0)];
    await big.pass(SHRINK_AFTER_MS + 1000);
    bob.leave();
    await big.pass(SHRINK_AFTER_MS / 2);
    const cyd = await big.room.join("cyd");
    await big.pass(SHRINK_AFTER_MS);
    expect(ben.closing).toBeUndefined();
    cyd.leave();
    await big.pass(SHRINK_AFTER_MS + 1000);
    expect(ben.closing?.code).toBe(1012);
  });
});
