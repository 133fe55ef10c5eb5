// Members of a room and of its shards: the same messages, answers, rules and recovery, wherever a connection is.
import { describe, expect, it } from "vitest";

import { REFUSED_MS } from "../../../src/chat/shards/shard-table.ts";
import type { MakeFeatures } from "../../../src/chat/custom/custom-features.ts";
import type { Audience } from "../../../src/extension/extension.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { BigRoom, hall, seen } from "../../host/big-room.ts";
import type { AnyAnswer } from "../../host/client.ts";
import type { Call, Client } from "../../host/harness.ts";
import { identityOf, UNLIMITED } from "../../host/chat-room.ts";
import { Feature } from "../../host/custom-room.ts";

const notices = (client: Client): unknown[] => client.received<{ code: string }>("notice").map(({ code }) => code);

describe("a member in a shard: SHD-2, SHD-3", () => {
  it("gets the welcome, and all messages once and in order", async () => {
    const { big, ada, ben, cyd } = await hall();
    expect(ben.received("welcome")).toMatchObject([{ room: "plaza", user: "ben", role: "member", lastSeq: 0 }]);
    for (const content of ["1", "2", "3"]) ada.emit("chat-message", { content });
    await big.pass(1000);
    ada.emit("chat-message", { content: "4" });
    await big.pass(1000);
    for (const client of [ada, ben, cyd]) expect(seen(client)).toEqual(["1", "2", "3", "4"]);
  });

  it("posts; the ack comes with what is stored, behind the message", async () => {
    const { big, ada, ben, cyd } = await hall();
    const call = ben.call("chat-message", { content: "hello", clientMsgId: "m1" });
    expect(call.acks).toEqual([]);
    await big.pass(100);
    expect(call.answer).toMatchObject({ ok: true, seq: 1 });
    for (const client of [ada, ben, cyd]) expect(seen(client)).toEqual(["hello"]);
    const again = ben.call("chat-message", { content: "hello", clientMsgId: "m1" });
    await big.pass(100);
    expect(again.answer).toMatchObject({ ok: true, seq: 1, duplicate: true });
    const [message, ack] = [ben.packets.findIndex(({ data }) => data?.[0] === "chat-message"), ben.packets.length];
    expect(message).toBeLessThan(ack);
  });

  it("posts in the order in which it said them, also while a report is under way", async () => {
    const { big, ben, cyd } = await hall();
    for (let i = 0; i < 20; i++) ben.emit("chat-message", { content: `${i}` });
    await big.pass(3000);
    expect(seen(cyd)).toEqual(Array.from({ length: 20 }, (_, i) => `${i}`));
    expect(seen(ben)).toEqual(seen(cyd));
  });

  it("gets errors as in the room: a bad payload, an unknown event, a payload that is no JSON, too many posts", async () => {
    const big = new BigRoom({ maxMembers: 1 });
    const ben = await big.join("ben", 0);
    const bad = ben.call("chat-message", { content: 1 });
    const unknown = ben.call("no-such-event", {});
    const posts = Array.from({ length: 11 }, (_, i) => ben.call("chat-message", { content: `${i}` }));
    ben.emit("no-such-event");
    await big.pass(1000);
    expect(bad.answer.error.code).toBe("INVALID_PAYLOAD");
    expect(unknown.answer.error.code).toBe("UNKNOWN_EVENT");
    expect(posts.map(({ answer }) => answer.error?.code)).toEqual([...Array(10).fill(undefined), "RATE_LIMITED"]);
    expect(ben.received("error")).toMatchObject([{ code: "UNKNOWN_EVENT" }]);
  });

  it("may refresh the token, of which the room knows in later requests, also after the shard has slept: a guest no more", async () => {
    const big = new BigRoom({ maxMembers: 1, guestRatePerIp: 0.001, messageRate: { perSecond: 1000, burst: 2 } });
    const ben = await big.join({ user: "ben", isGuest: true }, 0);
    const post = (): Call<AnyAnswer> => ben.call("chat-message", { content: "hi" });
    const asGuest = [post(), post(), post()];
    await big.pass(1000);
    expect(asGuest.map(({ answer }) => answer.error?.code)).toEqual([undefined, undefined, "RATE_LIMITED"]);
    big.issued.set("t2", identityOf({ user: "ben", name: "Benedict" }));
    const refresh = ben.call("refresh-token", { token: "t2" });
    await big.pass(5000);
    expect(refresh.answer).toMatchObject({ ok: true });
    big.shard(0).shell.evict();
    const later = [post(), post()];
    await big.pass(1000);
    expect(later.map(({ answer }) => answer.ok)).toEqual([true, true]);
    expect(ben.received<Message>("chat-message").at(-1)?.name).toBe("Benedict");
  });

  it("SHD-9: types unnamed and reads without effect on others; a wrong payload is refused all the same", async () => {
    const { big, ada, ben } = await hall();
    const calls = [ben.call("typing", { on: true }), ben.call("read", { seq: 0 }), ben.call("typing", { on: "yes" })];
    await big.pass(100);
    expect(calls.map(({ answer }) => answer.error?.code)).toEqual([undefined, undefined, "INVALID_PAYLOAD"]);
    expect(ada.received("typing")).toEqual([]);
    expect(ben.received("welcome")).toMatchObject([{ rests: ["read"] }]);
    expect(ada.received<object>("welcome")[0]).not.toHaveProperty("rests");
  });

  it("SHD-9: believes nobody to type who has stopped, though the room died before it could tell", async () => {
    const { big, ada, ben } = await hall();
    ada.emit("typing", { on: true });
    const dan = await big.join("dan", 1);
    await big.pass(100);
    big.crash();
    await big.pass(10_000);
    for (const client of [ben, dan]) {
      const welcomes = client.received<{ typing: readonly unknown[] }>("welcome");
      expect([...welcomes.flatMap(({ typing }) => typing), ...client.received("typing")]).toEqual([]);
    }
  });

  it("SHD-9: has nothing unread when it comes, whatever it had read before the room grew", async () => {
    const big = new BigRoom({ maxMembers: 2, messageRate: UNLIMITED });
    const [ada, eve] = [await big.room.join("ada"), await big.room.join("eve")];
    for (const content of ["1", "2", "3"]) ada.emit("chat-message", { content });
    await big.pass(100);
    eve.emit("read", { seq: 1 });
    await big.pass(5000);
    eve.leave();
    const again = await big.join("eve", 0);
    expect(again.received("welcome")).toMatchObject([{ lastSeq: 3, unread: 0, readSeq: 3 }]);
  });

  it("searches and reads the history", async () => {
    const { big, ben } = await hall();
    ben.emit("chat-message", { content: "a needle" });
    await big.pass(100);
    const search = ben.call("search", { query: "needle" });
    const history = ben.call("history", { limit: 5 });
    await big.pass(1000);
    expect(search.answer.messages).toMatchObject([{ content: "a needle" }]);
    expect(history.answer.messages).toMatchObject([{ content: "a needle" }]);
  });

  it("SHD-10: has as many connections in one object as MAX_CONNECTIONS_PER_USER allows", async () => {
    const big = new BigRoom({ maxMembers: 1 });
    for (let i = 0; i < 2; i++) await big.join("ben", 0);
    const third = await big.join("ben", 0);
    expect(third.refusal).toMatchObject({ data: { code: "TOO_MANY_CONNECTIONS" } });
  });

  it("hears of edits, deletions and reactions", async () => {
    const { big, ada, ben, cyd } = await hall();
    const post = ben.call("chat-message", { content: "teh" });
    await big.pass(100);
    const { id } = post.answer;
    ben.emit("edit-message", { id, content: "the" });
    await big.pass(100);
    cyd.emit("react", { id, emoji: "👍", on: true });
    await big.pass(100);
    ada.emit("delete-message", { id });
    await big.pass(100);
    for (const client of [ada, ben, cyd]) {
      expect(client.received("message-edited")).toMatchObject([{ id, content: "the" }]);
      expect(client.received("reaction")).toMatchObject([{ id, emoji: "👍", user: "cyd" }]);
      expect(client.received("message-deleted")).toMatchObject([{ id, by: "ada" }]);
    }
  });
});

describe("presence: SHD-9", () => {
  it("counts the members in shards, and tells everyone", async () => {
    const { big, ada, ben, cyd } = await hall();
    await big.pass(20_000);
    const counts = (client: Client): unknown => client.received<{ count: number }>("presence").at(-1)?.count;
    expect([ada, ben, cyd].map(counts)).toEqual([3, 3, 3]);
    cyd.leave();
    await big.pass(20_000);
    expect([ada, ben].map(counts)).toEqual([2, 2]);
  });

  it("changes in shards when the last connection of the room itself is gone", async () => {
    const { big, ada, ben } = await hall();
    await big.pass(20_000);
    ada.leave();
    await big.pass(20_000);
    expect(ben.received<{ count: number }>("presence").at(-1)).toMatchObject({ count: 2, left: [{ user: "ada" }] });
  });

  it("counts nobody in a shard that died, once that wakes", async () => {
    const { big, ada } = await hall();
    await big.pass(20_000);
    big.shard(0).shell.crash();
    await big.pass(20_000);
    expect(ada.received<{ count: number }>("presence").at(-1)?.count).toBe(2);
  });
});

/** Tells all moderators. */
const alarm: MakeFeatures = (handle) => [
  new Feature(handle, (feature) => ({
    sends: ["alarmed"],
    events: { alarm: { run: () => (feature.inside.moderators as Audience<{ alarmed(): void }>).emit("alarmed") } },
  })),
];

describe("moderation: SHD-8", () => {
  it("counts those as moderators in shards whom a grant makes so, for as long as it holds", async () => {
    const { big, ada, ben, cyd } = await hall({ custom: alarm });
    const hears = async (client: Client): Promise<number> => {
      const before = client.received("alarmed").length;
      cyd.emit("alarm");
      await big.pass(100);
      return client.received("alarmed").length - before;
    };
    expect([await hears(ben), await hears(ada)]).toEqual([0, 1]);
    ada.emit("grant", { user: "ben", role: "moderator" });
    expect(await hears(ben)).toBe(1);
    expect(await hears(await big.join("ben", 1))).toBe(1);
    ada.emit("revoke", { user: "ben" });
    expect([await hears(ben), await hears(cyd)]).toEqual([0, 0]);
  });

  it("kicks and bans members in shards, who get the notice first and stay away", async () => {
    const { big, ada, ben, cyd } = await hall();
    const kick = ada.call("kick", { user: "ben", reason: "spam" });
    const ban = ada.call("ban", { user: "cyd" });
    await big.pass(100);
    expect([kick.answer, ban.answer]).toMatchObject([{ ok: true }, { ok: true }]);
    expect([notices(ben), notices(cyd)]).toEqual([["KICKED"], ["BANNED"]]);
    expect([ben.closing?.code, cyd.closing?.code]).toEqual([4003, 4003]);
    const again = await big.join("cyd", 0);
    expect(again.refusal).toMatchObject({ data: { code: "BANNED" } });
  });

  it("does not ban a moderator in a shard by a ban of members", async () => {
    const { big, ada } = await hall();
    const mod = await big.join({ user: "mod", role: "moderator" }, 0);
    ada.emit("ban", { user: "mod" });
    await big.pass(100);
    expect(mod.closing).toBeUndefined();
  });

  it("mutes hold for requests from shards", async () => {
    const { big, ada, ben } = await hall();
    ada.emit("mute", { user: "ben", seconds: 60 });
    await big.pass(100);
    const post = ben.call("chat-message", { content: "hm" });
    await big.pass(100);
    expect(post.answer.error.code).toBe("MUTED");
  });
});

describe("requests whose outcome is unknown: SHD-5", () => {
  it("close their connection: the room died", async () => {
    const { big, ben } = await hall({
      rules: () => ({ beforePost: () => new Promise(() => {}), timeoutMs: 5000, onFailure: "refuse" }),
    });
    const post = ben.call("chat-message", { content: "1" });
    await big.pass(0);
    big.crash();
    const eve = await big.room.join("eve");
    eve.emit("typing", { on: true });
    await big.pass(31_000);
    expect(post.acks).toEqual([]);
    expect(ben.closing?.code).toBe(1012);
  });

  it("take later ones of their connection along: no report was taken", async () => {
    const { big, ada, ben } = await hall();
    const report = big.report.bind(big);
    let failures = 1;
    big.report = async (given) => {
      if (failures-- > 0) throw new Error("overloaded");
      return report(given);
    };
    for (const content of ["1", "2"]) ben.emit("chat-message", { content });
    await big.pass(1000);
    const requests = big.reports.flatMap((report) => report.requests);
    expect([seen(ada), ben.closing?.code, requests]).toEqual([[], 1012, []]);
  });

  it("take later ones of their connection along: the room died", async () => {
    const never = new Promise<undefined>(() => {});
    const { big, ben } = await hall({
      rules: () => ({
        beforePost: ({ content }) => (content === "1" ? never : undefined),
        timeoutMs: 5000,
        onFailure: "refuse",
      }),
    });
    ben.emit("chat-message", { content: "1" });
    await big.pass(0);
    big.crash();
    const eve = await big.room.join("eve");
    ben.emit("chat-message", { content: "2" });
    await big.pass(1000);
    expect([seen(eve), ben.closing?.code]).toEqual([[], 1012]);
  });

  it("close their connection: the room took no report", async () => {
    const { big, ben, cyd } = await hall();
    big.failure = new Error("overloaded");
    ben.emit("chat-message", { content: "1" });
    await big.pass(100);
    big.failure = undefined;
    expect([ben.closing?.code, cyd.closing]).toEqual([1012, undefined]);
  });
});

describe("a room without shards: SHD-13", () => {
  it("makes no call and stores nothing for them", async () => {
    const big = new BigRoom();
    const ada = await big.room.join("ada");
    ada.emit("chat-message", { content: "1" });
    await big.pass(1000);
    expect(big.shards).toEqual([]);
    expect(big.room.state.get("shards")).toBeUndefined();
  });
});

describe("a shard of a full room that died: SHD-1", () => {
  it("has its space again: connections ask it whether it is full, and its report tells the room that it is not", async () => {
    const big = new BigRoom({ maxMembers: 1, messageRate: UNLIMITED }, { maxShards: 1 });
    await big.room.join("ada");
    await big.join("ben", 0);
    await big.pass(2000);
    const space = (full: readonly number[] = []): string | undefined =>
      big.room.chat.room.turn(() => big.room.chat.parts.shards!.growth.growFor("", full));
    expect([space(), space([0]), space()]).toEqual([":1", undefined, undefined]);
    await big.pass(REFUSED_MS);
    expect(space()).toBe(":1");
    big.shard(0).shell.crash();
    await big.pass(100);
    expect(space()).toBe(":10");
  });

  it("has its space again though it refused a connection: those that never joined are in no report", async () => {
    const big = new BigRoom({ maxMembers: 2 }, { maxShards: 1 });
    await big.room.join("ada");
    await big.join("ben", 0);
    await big.pass(2000);
    const places = (full: readonly number[]): string | undefined =>
      big.room.chat.room.turn(() => big.room.chat.parts.shards!.growth.growFor("", full));
    expect(places([])).toBe(":5");
    expect(places([0])).toBeUndefined();
    await big.pass(REFUSED_MS);
    expect(places([])).toBe(":5");
  });
});
