// Members of shards after connections, rooms, shards or calls between them broke: they miss nothing, or the shard closes their connections.
import { describe, expect, it } from "vitest";

import { back, hall, lastOffset, seen } from "../../host/big-room.ts";

describe("recovery: SHD-6", () => {
  it("brings what was missed, also in another shard, and one that has just begun", async () => {
    const { big, ada, ben } = await hall();
    ada.emit("chat-message", { content: "1" });
    await big.pass(100);
    const offset = lastOffset(ben);
    ben.leave();
    ada.emit("chat-message", { content: "2" });
    await big.pass(100);
    for (const shard of [0, 1, 5]) {
      const again = await back(big, ben, shard, offset);
      expect(again.socketId()).toBe(ben.socketId());
      expect(seen(again)).toEqual(["2"]);
      again.leave();
      await big.pass(2000);
    }
  });

  it("brings what was missed to the first who comes back to a shard that died, whose stored position is old", async () => {
    const { big, ada, ben } = await hall();
    await big.pass(2000);
    ada.emit("chat-message", { content: "1" });
    await big.pass(100);
    const offset = lastOffset(ben);
    ada.emit("chat-message", { content: "2" });
    await big.pass(100);
    expect(big.shard(0).kept?.place.seq).toBe(0);
    big.shard(0).shell.crash();
    const again = await back(big, ben, 0, offset);
    expect(again.socketId()).toBe(ben.socketId());
    expect(seen(again)).toEqual(["2"]);
  });

  it("brings no text that was deleted meanwhile", async () => {
    const { big, ada, ben } = await hall();
    ada.emit("chat-message", { content: "1" });
    await big.pass(100);
    const offset = lastOffset(ben);
    ben.leave();
    const post = ada.call("chat-message", { content: "secret" });
    await big.pass(100);
    ada.emit("delete-message", { id: post.answer.id });
    await big.pass(100);
    const again = await back(big, ben, 0, offset);
    expect(again.socketId()).toBe(ben.socketId());
    expect(JSON.stringify(again.packets)).not.toContain("secret");
  });

  it("has the room read nothing for a private id that was not given to the user", async () => {
    const { big, ada, ben, cyd } = await hall();
    ada.emit("chat-message", { content: "1" });
    await big.pass(100);
    const offset = lastOffset(ben);
    const { pid } = ben.accepted("/") as { pid?: string };
    ben.leave();
    ada.emit("chat-message", { content: "2" });
    await big.pass(100);
    await big.join(cyd.name, 5, {}, { pid, offset });
    await big.join("ben", 5, {}, { pid: `${pid!.slice(0, -1)}~`, offset });
    expect(JSON.stringify(big.shard(5).calls)).not.toContain("earlier");
    const again = await back(big, ben, 5, offset);
    expect(JSON.stringify(big.shard(5).calls)).toContain("earlier");
    expect(seen(again)).toEqual(["2"]);
  });

  it("is refused to a user who was kicked", async () => {
    const { big, ada, ben } = await hall();
    ada.emit("chat-message", { content: "1" });
    await big.pass(100);
    const offset = lastOffset(ben);
    ada.emit("kick", { user: "ben" });
    await big.pass(100);
    const again = await back(big, ben, 0, offset);
    expect(again.socketId()).not.toBe(ben.socketId());
  });
});

describe("a shard that sleeps", () => {
  it("has its position when it wakes, and goes on", async () => {
    const { big, ada, ben } = await hall();
    ada.emit("chat-message", { content: "1" });
    await big.pass(5000);
    big.shard(0).shell.evict();
    ada.emit("chat-message", { content: "2" });
    await big.pass(100);
    expect(seen(ben)).toEqual(["1", "2"]);
    const post = ben.call("chat-message", { content: "3" });
    await big.pass(100);
    expect(post.answer).toMatchObject({ ok: true, seq: 3 });
    expect(seen(ben)).toEqual(["1", "2", "3"]);
  });

  it("stores its position again where that failed, before it sleeps", async () => {
    const { big, ada, ben } = await hall();
    await big.pass(5000);
    big.shard(0).isStorageBroken = true;
    ada.emit("chat-message", { content: "1" });
    await big.pass(5000);
    big.shard(0).isStorageBroken = false;
    await big.pass(5000);
    big.shard(0).shell.evict();
    ada.emit("chat-message", { content: "2" });
    await big.pass(100);
    expect(seen(ben)).toEqual(["1", "2"]);
  });

  it("stores none for chunks that come late, if nobody is in it since its storage was erased: SHD-4", async () => {
    const { big } = await hall();
    await big.pass(5000);
    const shard = big.shard(0);
    const late = shard.calls.at(-1)!;
    shard.kept = undefined;
    shard.shell.crash();
    await shard.take(late);
    await big.pass(5000);
    expect(shard.kept).toBeUndefined();
  });
});

describe("a room that sleeps", () => {
  it("answers the posts of shards that wake it, and lets their members stay", async () => {
    const { big, ada, ben } = await hall();
    await big.pass(20_000);
    big.room.shell.evict();
    const post = ben.call("chat-message", { content: "good morning" });
    await big.pass(1000);
    expect(post.answer).toMatchObject({ ok: true, seq: 1 });
    expect([ben.closing, seen(ada)]).toEqual([undefined, ["good morning"]]);
  });

  it("lets members in where the last ones of the shard had gone before", async () => {
    const { big, ben } = await hall();
    ben.leave();
    await big.pass(20_000);
    big.room.shell.evict();
    const dan = await big.join("dan", 0);
    expect(dan.received("welcome")).toHaveLength(1);
    const [post] = [dan.call("chat-message", { content: "hello" })];
    await big.pass(1000);
    expect(post.answer).toMatchObject({ ok: true });
  });
});

describe("a gap: SHD-4, SHD-7", () => {
  it("is mended from the log when the room died before it could send a message", async () => {
    const { big, ada, ben, cyd } = await hall();
    ada.emit("chat-message", { content: "1" });
    await big.pass(100);
    for (const shard of [0, 1]) big.shard(shard).failure = new Error("away");
    ada.emit("chat-message", { content: "2" });
    ada.emit("chat-message", { content: "3" });
    await big.pass(100);
    big.crash();
    for (const shard of [0, 1]) big.shard(shard).failure = undefined;
    const eve = await big.room.join("eve");
    eve.emit("chat-message", { content: "4" });
    await big.pass(6000);
    for (const client of [ben, cyd]) expect(seen(client)).toEqual(["1", "2", "3", "4"]);
  });

  it("closes the connections when it cannot be told any more: their clients come back", async () => {
    const { big, ada, ben } = await hall();
    const post = ada.call("chat-message", { content: "1" });
    await big.pass(100);
    big.shard(0).failure = new Error("away");
    ada.emit("edit-message", { id: post.answer.id, content: "one" });
    await big.pass(100);
    big.crash();
    big.shard(0).failure = undefined;
    const eve = await big.room.join("eve");
    eve.emit("chat-message", { content: "2" });
    await big.pass(6000);
    expect(ben.closing?.code).toBe(1012);
  });

  it("is none where the room wakes again and again, also where messages were changed long ago", async () => {
    const { big, ada, ben } = await hall();
    const post = ada.call("chat-message", { content: "1" });
    await big.pass(100);
    ada.emit("react", { id: post.answer.id, emoji: "👍", on: true });
    for (let night = 0; night < 3; night++) {
      await big.pass(20_000);
      big.room.shell.evict();
      ada.emit("chat-message", { content: `night ${night}` });
      await big.pass(1000);
    }
    expect(ben.closing).toBeUndefined();
    expect(seen(ben)).toEqual(["1", "night 0", "night 1", "night 2"]);
  });

  it("is none for those who came after a change that no shard was there to hear of, when the room has slept and died", async () => {
    const { big, ada, ben, cyd } = await hall();
    const post = ada.call("chat-message", { content: "1" });
    await big.pass(100);
    for (const client of [ben, cyd]) client.leave();
    await big.pass(3000);
    big.room.turn(() => {});
    ada.emit("react", { id: post.answer.id, emoji: "👍", on: true });
    await big.pass(20_000);
    big.room.shell.evict();
    const dan = await big.join("dan", 0);
    await big.pass(3000);
    big.crash();
    big.room.turn(() => {});
    await big.pass(3000);
    expect(dan.closing).toBeUndefined();
  });

  it("is none where a room with a link dies twice, and a message was changed after the link was set", async () => {
    const { big, ada, ben } = await hall();
    const post = ada.call("chat-message", { content: "1" });
    await big.pass(100);
    expect(big.room.relay.links.add("elsewhere")).toEqual({ ok: true });
    await big.pass(100);
    ada.emit("react", { id: post.answer.id, emoji: "👍", on: true });
    for (let death = 0; death < 2; death++) {
      await big.pass(3000);
      big.crash();
      big.room.turn(() => {});
    }
    await big.pass(3000);
    expect(ben.closing).toBeUndefined();
  });

  it("a slow shard holds up no other", async () => {
    const { big, ada, ben, cyd } = await hall();
    big.shard(0).failure = new Error("slow");
    ada.emit("chat-message", { content: "1" });
    await big.pass(100);
    expect([seen(ben), seen(cyd)]).toEqual([[], ["1"]]);
    big.shard(0).failure = undefined;
    await big.pass(6000);
    expect(seen(ben)).toEqual(["1"]);
  });
});

describe("calls that failed, and arrive later all the same", () => {
  it("do not silence a shard, where a report of its former instance comes behind the first of the present one", async () => {
    const { big, ada, ben } = await hall();
    const report = big.reports.find(({ shard }) => shard === 0)!;
    const late = { ...report, from: "the former one", number: 7, joins: [], requests: [], sockets: 5, users: 5 };
    await big.report(late);
    ben.emit("chat-message", { content: "1" });
    await big.pass(40_000);
    await big.report(late);
    const dan = await big.join("dan", 0);
    dan.emit("chat-message", { content: "2" });
    await big.pass(3000);
    expect(seen(dan)).toEqual(["2"]);
    expect(ada.received("presence").at(-1)).toMatchObject({ count: big.room.chat.room.members.count });
    expect(dan.received("welcome")).toMatchObject([{ user: "dan" }]);
  });

  it("carry no request out twice", async () => {
    const { big, ada, ben } = await hall();
    ben.emit("chat-message", { content: "1" });
    await big.pass(1000);
    const report = big.reports.find(({ requests }) => requests.length > 0)!;
    await big.report(report);
    big.shard(0).shell.crash();
    await big.join("ben", 0);
    await big.report(report);
    await big.pass(1000);
    expect(seen(ada)).toEqual(["1"]);
  });

  it("carry out nothing in the log that follows on a deleted one", async () => {
    const { big, ada, ben } = await hall();
    ben.emit("chat-message", { content: "1" });
    await big.pass(1000);
    const report = big.reports.find(({ requests }) => requests.length > 0)!;
    expect(report.epoch).toBe(big.room.log.epoch);
    await big.report({ ...report, from: "a former one", epoch: "deleted" });
    ben.emit("chat-message", { content: "2" });
    await big.pass(1000);
    expect(seen(ada)).toEqual(["1", "2"]);
  });

  it("show nothing again, also those of a former stream", async () => {
    const { big, ada, ben } = await hall();
    ada.emit("chat-message", { content: "1" });
    await big.pass(1000);
    const [first] = big.shard(0).calls;
    big.crash();
    const eve = await big.room.join("eve");
    eve.emit("chat-message", { content: "2" });
    await big.pass(1000);
    await big.shard(0).take(first!);
    eve.emit("chat-message", { content: "3" });
    await big.pass(1000);
    expect(seen(ben)).toEqual(["1", "2", "3"]);
    expect(ben.closing).toBeUndefined();
  });

  it("hold up no stream that a shard takes for a former one", async () => {
    const { big, ada, ben } = await hall();
    ada.emit("chat-message", { content: "1" });
    await big.pass(1000);
    await big.shard(0).take({ life: "of long ago", call: 1, first: 0, pieces: [], below: [] });
    ada.emit("chat-message", { content: "2" });
    await big.pass(1000);
    expect(seen(ben)).toEqual(["1", "2"]);
  });
});

describe("a room that died", () => {
  it("sends its shards what they missed as soon as it runs again", async () => {
    const { big, ada, ben } = await hall();
    big.shard(0).failure = new Error("away");
    ada.emit("chat-message", { content: "1" });
    await big.pass(100);
    big.crash();
    big.shard(0).failure = undefined;
    big.room.turn(() => {});
    await big.pass(1000);
    expect(seen(ben)).toEqual(["1"]);
  });

  it("keeps out a user whose ban no shard has heard of", async () => {
    const { big, ada, ben } = await hall();
    big.shard(0).failure = new Error("away");
    ada.emit("ban", { user: "ben" });
    await big.pass(100);
    big.crash();
    big.shard(0).failure = undefined;
    big.room.turn(() => {});
    await big.pass(1000);
    expect(ben.closing?.code).toBe(1012);
    const again = await big.join("ben", 0);
    expect(again.refusal).toMatchObject({ data: { code: "BANNED" } });
  });
});

describe("a room that sleeps", () => {
  it("tells its shards nothing when it wakes", async () => {
    const { big, ada, ben } = await hall();
    ada.emit("chat-message", { content: "1" });
    await big.pass(20_000);
    const { length: calls } = big.shard(0).calls;
    const { length: packets } = ben.packets;
    big.room.shell.evict();
    big.room.turn(() => {});
    await big.pass(1000);
    expect(big.shard(0).calls).toHaveLength(calls);
    ada.emit("chat-message", { content: "2" });
    await big.pass(1000);
    expect(big.shard(0).calls).toHaveLength(calls + 1);
    expect(ben.packets.slice(packets).map(({ data }) => data?.[0])).toEqual(["chat-message"]);
  });
});
