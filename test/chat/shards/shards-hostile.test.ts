// Members of a shard and features that do harm: no other member of the shard loses an answer, a message or the connection.
import { expect, it } from "vitest";

import type { MakeFeatures } from "../../../src/chat/custom/custom-features.ts";
import type { Audience } from "../../../src/extension/extension.ts";
import { HISTORY_LIMIT_MAX, REQUEST_LIMIT } from "../../../src/protocol/limits.ts";
import { BigRoom, hall, seen } from "../../host/big-room.ts";
import { UNLIMITED } from "../../host/chat-room.ts";
import { Feature } from "../../host/custom-room.ts";

interface Counts {
  count(n: bigint): void;
}

/** Sends what no JSON holds. */
const unsendable: MakeFeatures = (handle) => [
  new Feature(handle, (feature) => ({
    sends: ["count"],
    events: { count: { run: () => (feature.inside.everyone as Audience<Counts>).emit("count", 1n) } },
  })),
];

it("an event of a feature that cannot be sent fails alone: the others of its turn arrive", async () => {
  const big = new BigRoom({ maxMembers: 1, messageRate: UNLIMITED }, { custom: unsendable });
  const [ben, cyd] = [await big.join("ben", 0), await big.join("cyd", 0)];
  const [post, count, presence] = [
    cyd.call("chat-message", { content: "1" }),
    ben.call("count", {}),
    cyd.call("presence", {}),
  ];
  await big.pass(1000);
  expect(post.answer).toMatchObject({ ok: true });
  expect(count.answer.error.code).toBe("INTERNAL");
  expect(presence.answer).toMatchObject({ ok: true, count: 2 });
  expect([seen(ben), seen(cyd)]).toEqual([["1"], ["1"]]);
});

it("SHD-7: a member who asks for more history than a slow shard takes is refused, and no answer of another one is dropped", async () => {
  const { big, ada, ben } = await hall();
  for (let i = 0; i < HISTORY_LIMIT_MAX; i++) ada.emit("chat-message", { content: "x".repeat(1000) });
  const dan = await big.join("dan", 0);
  await big.pass(30_000);
  big.shard(0).failure = new Error("slow");
  const pages = Array.from({ length: 20 }, () => ben.call("history", { limit: HISTORY_LIMIT_MAX }));
  await big.pass(10);
  const other = dan.call("chat-message", { content: "mine" });
  const again = Array.from({ length: 20 }, () => ben.call("history", { limit: HISTORY_LIMIT_MAX }));
  await big.pass(10);
  big.shard(0).failure = undefined;
  await big.pass(10_000);
  const codes = [...pages, ...again].map(({ answer }) => answer.error?.code);
  expect(codes.filter((code) => code === undefined).length).toBeGreaterThan(5);
  expect(new Set(codes)).toEqual(new Set([undefined, "RATE_LIMITED"]));
  expect(other.acks).toHaveLength(1);
  expect([ben.closing, dan.closing]).toEqual([undefined, undefined]);
});

it("SHD-7: what one connection has waiting for a slow room is bounded, and leaves space for the requests of others", async () => {
  const { big, ben } = await hall();
  const dan = await big.join("dan", 0);
  await big.pass(1000);
  const { promise, resolve } = Promise.withResolvers<void>();
  const report = big.report.bind(big);
  big.report = async (given) => {
    await promise;
    return report(given);
  };
  ben.emit("history", {});
  await big.pass(0);
  const long = Array.from({ length: 40 }, () => ben.call("no-such-event", { text: "x".repeat(60_000) }));
  const other = dan.call("chat-message", { content: "mine" });
  expect(long.map(({ acks }) => acks.length)).toContain(1);
  expect(other.acks).toEqual([]);
  resolve();
  await big.pass(1000);
  const codes = long.map(({ answer }) => answer.error.code);
  expect(codes.filter((code) => code === "RATE_LIMITED").length).toBeGreaterThan(30);
  expect(codes[0]).toBe("UNKNOWN_EVENT");
  expect(other.answer).toMatchObject({ ok: true });
});

it("SHD-9: typing costs a token of CHAT-6, also where it rests", async () => {
  const { ben } = await hall();
  const calls = Array.from({ length: REQUEST_LIMIT.burst + 1 }, () => ben.call("typing", { on: true }));
  expect(calls.map(({ answer }) => answer.error?.code)).toEqual([
    ...Array(REQUEST_LIMIT.burst).fill(undefined),
    "RATE_LIMITED",
  ]);
});

it("a room that takes no reports is not asked every second for ever, and hears the size once it does", async () => {
  const { big, ben } = await hall();
  const dan = await big.join("dan", 0);
  await big.pass(5000);
  big.failure = new Error("the room's data is of a newer version");
  dan.leave();
  await big.pass(60_000);
  const { length } = big.shard(0).shell.problems;
  expect(length).toBeGreaterThan(3);
  expect(length).toBeLessThan(10);
  big.failure = undefined;
  await big.pass(60_000);
  expect(big.room.chat.parts.shards?.facts[0]?.sockets).toBe(1);
  expect(ben.closing).toBeUndefined();
});
