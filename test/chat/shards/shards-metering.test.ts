// The counts of a big room for operators: in its report to the lobby, in its stats, and in its metrics.
import { describe, expect, it } from "vitest";

import { SHRINK_AFTER_MS } from "../../../src/chat/shards/growth.ts";
import { BigRoom } from "../../host/big-room.ts";
import { UNLIMITED } from "../../host/chat-room.ts";

const countsOf = ({ room }: BigRoom): Readonly<Record<string, number>> => room.chat.room.meter.read();

describe("a big room counts", () => {
  it("the connections and the shards that it holds them in", async () => {
    const big = new BigRoom({ maxMembers: 2 });
    await big.room.join("ada");
    for (const [user, shard] of [
      ["ben", 0],
      ["cyd", 0],
      ["dan", 1],
    ] as const)
      await big.join(user, shard);
    await big.pass(2000);
    const { remote } = big.room.chat.room;
    expect([remote?.connections, remote?.shards]).toEqual([3, 2]);
    expect(big.room.chat.parts.shards?.facts).toEqual([
      { region: "", sockets: 2, waitingChars: 0 },
      { region: "", sockets: 1, waitingChars: 0 },
    ]);
  });

  it("each delivery, wherever its recipient is", async () => {
    const big = new BigRoom({ maxMembers: 1, messageRate: UNLIMITED });
    const ada = await big.room.join("ada");
    await big.join("ben", 0);
    await big.join("cyd", 1);
    await big.pass(2000);
    ada.emit("chat-message", { content: "1" });
    await big.pass(1000);
    expect(countsOf(big)).toMatchObject({ posted: 1, delivered: 3 });
  });

  it("all connections, where the pace depends on their number", async () => {
    const big = new BigRoom({ maxMembers: 1, messageRate: UNLIMITED, flushWindowMs: 50, flushBurst: 8 });
    const ada = await big.room.join("ada");
    for (let i = 0; i < 101; i++) await big.join(`user-${i}`, 0);
    await big.pass(10_000);
    // As in one object with so many connections, no batch goes out ahead of its window.
    for (const content of ["1", "2", "3"]) {
      ada.emit("chat-message", { content });
      await big.pass(10);
    }
    expect(big.room.chat.room.seenSeq()).toBe(1);
    await big.pass(100);
    expect(big.room.chat.room.seenSeq()).toBe(3);
  });

  it("the chunks that shards took, and a sample of what waits for the slowest", async () => {
    const big = new BigRoom({ maxMembers: 1, messageRate: UNLIMITED });
    const ada = await big.room.join("ada");
    await big.join("ben", 0);
    await big.join("cyd", 1);
    await big.pass(2000);
    const { shard_pieces: before = 0 } = countsOf(big);
    ada.emit("chat-message", { content: "1" });
    await big.pass(100);
    expect(countsOf(big)["shard_pieces"]! - before).toBe(2);
    const sampled = Object.keys(countsOf(big)).filter((series) => series.startsWith("shard_waiting:"));
    expect(sampled).not.toEqual([]);
  });

  it("a failed call, whose chunks the shard gets again", async () => {
    const big = new BigRoom({ maxMembers: 1, messageRate: UNLIMITED });
    const ada = await big.room.join("ada");
    const ben = await big.join("ben", 0);
    await big.pass(2000);
    big.shard(0).failure = new Error("overloaded");
    ada.emit("chat-message", { content: "1" });
    await big.pass(100);
    big.shard(0).failure = undefined;
    await big.pass(6000);
    expect(countsOf(big)["shard_failures:pieces"]).toBeGreaterThan(0);
    expect(ben.received("chat-message")).toHaveLength(1);
  });

  it("a gap that is mended: the room died with a chunk that the shard had not got", async () => {
    const big = new BigRoom({ maxMembers: 1, messageRate: UNLIMITED });
    const ada = await big.room.join("ada");
    const ben = await big.join("ben", 0);
    await big.pass(2000);
    big.shard(0).failure = new Error("overloaded");
    ada.emit("chat-message", { content: "1" });
    await big.pass(100);
    big.crash();
    big.shard(0).failure = undefined;
    const eve = await big.room.join("eve");
    eve.emit("chat-message", { content: "2" });
    await big.pass(6000);
    expect(ben.received("chat-message")).toMatchObject([{ content: "1" }, { content: "2" }]);
    expect(countsOf(big)["shard_gaps:mended"]).toBe(1);
  });

  it("a report that the room did not take", async () => {
    const big = new BigRoom({ maxMembers: 1 });
    await big.join("ben", 0);
    await big.pass(2000);
    big.failure = new Error("overloaded");
    await big.join("cyd", 0);
    big.failure = undefined;
    await big.pass(2000);
    expect(big.shard(0).shell.problems).toHaveLength(1);
  });

  it("the connections that go home with the crowd", async () => {
    const big = new BigRoom({ maxMembers: 4 });
    await big.room.join("ada");
    await big.join("ben", 0);
    await big.pass(SHRINK_AFTER_MS + 1000);
    await big.pass(5000);
    expect(countsOf(big)["shard_sent_away:home"]).toBe(1);
  });
});

describe("a room without shards", () => {
  it("counts nothing of them", async () => {
    const big = new BigRoom();
    const ada = await big.room.join("ada");
    ada.emit("chat-message", { content: "1" });
    await big.pass(1000);
    expect(Object.keys(countsOf(big)).filter((series) => series.startsWith("shard"))).toEqual([]);
  });
});
