// Crowds in a room with shards: counts of typing, messages that are not shown, and counts in place of messages are the same in each object.
import { describe, expect, it } from "vitest";

import { COUNTS_WINDOW_MS, TYPING_MS } from "../../../src/crowd/crowd.ts";
import { back, BigRoom, hall, lastOffset, seen } from "../../host/big-room.ts";
import type { Client } from "../../host/harness.ts";
import { UNLIMITED } from "../../host/chat-room.ts";

const counts = (client: Client): number[] =>
  client.received<{ count: number }>("typing-count").map(({ count }) => count);

async function crowd(settings: object = {}) {
  const big = new BigRoom({ messageRate: UNLIMITED, maxMembers: 1, crowdMembers: 2, ...settings });
  const ada = await big.room.join("ada", { canRecover: true });
  const [ben, cyd] = [await big.join("ben", 0), await big.join("cyd", 1)];
  await big.pass(2000);
  return { big, ada, ben, cyd };
}

describe("typing in shards: TYP-1, SHD-9", () => {
  it("is counted over all objects, once a second", async () => {
    const { big, ada, ben, cyd } = await crowd();
    for (const client of [ben, cyd, ada]) client.emit("typing", { on: true });
    await big.pass(1500);
    for (const client of [ada, ben, cyd]) expect(counts(client).at(-1)).toBe(3);
    const reports = big.reports.length;
    for (let at = 0; at < 5; at++) ben.emit("typing", { on: true });
    await big.pass(1000);
    expect(big.reports.length - reports).toBe(0);
  });

  it("ends by itself, with a post, and with the connection", async () => {
    const { big, ada, ben, cyd } = await crowd();
    const dan = await big.join("dan", 0);
    for (const client of [ben, cyd, dan]) client.emit("typing", { on: true });
    await big.pass(1500);
    ben.emit("chat-message", { content: "done" });
    dan.leave();
    await big.pass(1500);
    expect(counts(ada).at(-1)).toBe(1);
    await big.pass(TYPING_MS);
    expect(counts(ada).at(-1)).toBe(0);
  });

  it("is told anew by a room that died: those who type, or nobody", async () => {
    const { big, ben, cyd } = await crowd();
    ben.emit("typing", { on: true });
    await big.pass(1500);
    big.crash();
    await big.pass(TYPING_MS);
    await big.room.join("ada");
    await big.pass(6000);
    expect(counts(cyd).at(-1)).toBe(0);
    ben.emit("typing", { on: true });
    await big.pass(3000);
    expect(counts(cyd).at(-1)).toBe(1);
  });

  it("ends for all, also where the room has slept meanwhile", async () => {
    const { big, ada, ben, cyd } = await crowd();
    for (let at = 0; at < 10; at++) {
      ben.emit("typing", { on: true });
      await big.pass(2000);
    }
    big.room.shell.evict();
    await big.pass(3 * TYPING_MS);
    for (const client of [ada, cyd]) expect(counts(client)).toEqual([1, 0]);
  });

  it("is forgotten with the shard that died", async () => {
    const { big, ada, ben } = await crowd();
    ben.emit("typing", { on: true });
    await big.pass(1500);
    big.shard(0).shell.crash();
    await big.join("eve", 0);
    await big.pass(3000);
    expect(counts(ada)).toEqual([1, 0]);
  });
});

describe("CROWD-1 with shards", () => {
  it("shows the same messages in each object, and tells all members of the others", async () => {
    const { big, ada, ben, cyd } = await crowd({ crowdShownRate: 2 });
    for (const content of ["1", "2", "3", "4"]) ben.emit("chat-message", { content });
    await big.pass(1500);
    for (const content of ["5", "6"]) ada.emit("chat-message", { content });
    await big.pass(1500);
    for (const client of [ada, ben, cyd]) {
      expect(seen(client)).toEqual(["1", "2", "5", "6"]);
      expect(client.received("not-shown")).toEqual([{ from: 3, to: 4 }]);
    }
  });

  it("recovers in any object, with what was not shown meanwhile", async () => {
    const { big, ada, ben } = await crowd({ crowdShownRate: 1 });
    ada.emit("chat-message", { content: "1" });
    await big.pass(1500);
    const offset = lastOffset(ben);
    ben.leave();
    for (const content of ["2", "3"]) ada.emit("chat-message", { content });
    await big.pass(1500);
    for (const shard of [0, 1]) {
      const again = await back(big, ben, shard, offset);
      await big.pass(100);
      expect(seen(again)).toEqual(["2", "3"]);
      again.leave();
      await big.pass(100);
    }
  });
});

describe("attending to counts in a shard: ATT-1, ATT-2", () => {
  it("is a matter of the shard: the room hears nothing of it", async () => {
    const { big, ada, ben, cyd } = await crowd();
    const reports = big.reports.length;
    const call = ben.call("attend", { to: "counts" });
    expect(call.answer).toEqual({ ok: true, lastSeq: 0 });
    ada.emit("chat-message", { content: "1" });
    await big.pass(COUNTS_WINDOW_MS);
    ada.emit("chat-message", { content: "2" });
    await big.pass(COUNTS_WINDOW_MS);
    expect([seen(ben), ben.received("counts")]).toEqual([[], [{ lastSeq: 1 }, { lastSeq: 2 }]]);
    expect(seen(cyd)).toEqual(["1", "2"]);
    expect(ben.call("attend", { to: "all" }).answer).toEqual({ ok: true, lastSeq: 2 });
    ada.emit("chat-message", { content: "3" });
    await big.pass(100);
    expect(seen(ben)).toEqual(["3"]);
    expect(big.reports).toHaveLength(reports);
    expect(ben.call("attend", {}).acks).toEqual([]);
  });

  it("leaves the number of users as it is", async () => {
    const { big, ben } = await hall();
    ben.call("attend", { to: "counts" });
    await big.join("dan", 0);
    await big.pass(2000);
    expect(big.reports.findLast(({ shard }) => shard === 0)).toMatchObject({ sockets: 2, users: 2 });
  });
});
