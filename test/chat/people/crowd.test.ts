// A crowd: who types is a number, only so many messages are shown in a second, and a client may ask for counts only.
import { describe, expect, it } from "vitest";

import { COUNTS_WINDOW_MS, TYPING_MS } from "../../../src/crowd/crowd.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { ChatRoom, RECOVERS, recoveryAuthOf, UNLIMITED, type Person } from "../../host/chat-room.ts";
import type { Client } from "../../host/harness.ts";

const CROWD = { crowdMembers: 2, messageRate: UNLIMITED, flushWindowMs: 0 };

async function crowd(settings: object = {}, ...more: Array<string | Person>) {
  const room = new ChatRoom({ ...CROWD, ...settings });
  const people: Client[] = [];
  for (const person of ["ada", "ben", "cyd", ...more]) people.push(await room.join(person, RECOVERS));
  room.quiet();
  const [ada, ben, cyd] = people as [Client, Client, Client];
  return { room, ada, ben, cyd, people };
}

const contents = (client: Client): string[] => client.received<Message>("chat-message").map(({ content }) => content);

const say = (client: Client, ...texts: string[]): void => {
  for (const content of texts) client.emit("chat-message", { content });
};

describe("TYP-1: a crowd hears how many type", () => {
  const counts = (client: Client): number[] =>
    client.received<{ count: number }>("typing-count").map(({ count }) => count);

  it("when that changes, and at the end of each; a newcomer has it in the welcome", async () => {
    const { room, ada, ben, cyd } = await crowd();
    ada.emit("typing", { on: true });
    expect(counts(cyd)).toEqual([1]);
    ben.emit("typing", { on: true });
    ben.emit("typing", { on: true });
    room.shell.advance(1000);
    expect(counts(cyd)).toEqual([1, 2]);
    const dan = await room.join("dan");
    expect(dan.received("welcome")).toMatchObject([{ typing: [], typingCount: 2 }]);
    room.shell.advance(TYPING_MS);
    room.quiet();
    expect(counts(cyd).at(-1)).toBe(0);
    expect(cyd.received("typing")).toEqual([]);
    expect((await room.join("eve")).received<object>("welcome")[0]).not.toHaveProperty("typingCount");
  });

  it("without those who have posted, stopped or left", async () => {
    const { room, ada, ben, cyd } = await crowd();
    for (const client of [ada, ben, cyd]) client.emit("typing", { on: true });
    room.shell.advance(1000);
    const dan = await room.join("dan");
    say(ada, "done");
    ben.emit("typing", { on: false });
    cyd.leave();
    room.shell.advance(1000);
    expect(counts(dan).at(-1)).toBe(0);
  });

  it("a room that falls below CROWD_MEMBERS names those who begin to type from then on", async () => {
    const { room, ada, ben, cyd } = await crowd();
    cyd.leave();
    room.shell.advance(10_000);
    ada.emit("typing", { on: true });
    expect(ben.received("typing")).toEqual([{ user: "ada", name: "ada", on: true }]);
  });
});

describe("CROWD-1: a crowd is shown CROWD_SHOWN_RATE messages in a second", () => {
  it("and hears which ones were stored and not shown, before the next one and within a second", async () => {
    const { room, ada, ben } = await crowd({ crowdShownRate: 2 });
    say(ada, "1", "2", "3", "4");
    expect(contents(ben)).toEqual(["1", "2"]);
    expect(ben.received("not-shown")).toEqual([]);
    room.shell.advance(1000);
    expect(ben.received("not-shown")).toEqual([{ from: 3, to: 4 }]);
    say(ada, "5", "6", "7");
    room.shell.advance(1000);
    say(ada, "8");
    room.quiet();
    expect(contents(ben)).toEqual(["1", "2", "5", "6", "8"]);
    const names = ben.packets
      .map(({ data }) => data?.[0])
      .filter((name) => ["chat-message", "not-shown"].includes(name));
    expect(names.map((name) => name[0]).join("")).toBe("ccnccnc");
    const { messages } = await ben.ask("history", { after: 2, limit: 2 });
    expect(messages.map(({ content }: Message) => content)).toEqual(["3", "4"]);
  });

  it("acks all of them, and counts them", async () => {
    const { room, ada } = await crowd({ crowdShownRate: 1 });
    const answers = await Promise.all(["1", "2", "3"].map((content) => ada.ask("chat-message", { content })));
    expect(answers).toMatchObject([
      { ok: true, seq: 1 },
      { ok: true, seq: 2 },
      { ok: true, seq: 3 },
    ]);
    room.quiet();
    expect(room.chat.room.meter.read()).toMatchObject({ posted: 3, not_shown: 2, delivered: 3 });
  });

  it("besides those of moderators, by token or by grant", async () => {
    const { room, ada, ben, people } = await crowd({ crowdShownRate: 1 }, { user: "mo", role: "moderator" });
    const mo = people[3]!;
    await mo.ask("grant", { user: "ada", role: "moderator" });
    say(ben, "1", "2");
    say(ada, "by grant");
    say(mo, "by token");
    room.quiet();
    expect(contents(ben)).toEqual(["1", "by grant", "by token"]);
    expect(ben.received("not-shown")).toEqual([{ from: 2, to: 2 }]);
  });

  it("of which one member has no more than half and one: the others are shown, too", async () => {
    const { room, ada, ben, cyd, people } = await crowd({ crowdShownRate: 10 }, "dan");
    say(ada, ...Array.from({ length: 20 }, (_, at) => `ada ${at}`));
    say(ben, "ben", "ben again");
    say(cyd, "cyd");
    room.shell.advance(1000);
    const shown = contents(people[3]!);
    expect(shown.slice(-2)).toEqual(["ben", "cyd"]);
    expect(shown.filter((content) => content.startsWith("ada"))).toHaveLength(6);
    say(ada, "in the next second");
    expect(contents(ben).at(-1)).toBe("in the next second");
  });

  it("a smaller room is shown all", async () => {
    const room = new ChatRoom({ ...CROWD, crowdShownRate: 1 });
    const [ada, ben] = [await room.join("ada"), await room.join("ben")];
    say(ada, "1", "2", "3");
    expect(contents(ben)).toEqual(["1", "2", "3"]);
  });

  it("recovery brings what a client had not been told of", async () => {
    const { room, ada, ben } = await crowd({ crowdShownRate: 1 });
    say(ada, "1", "2");
    const place = recoveryAuthOf(ben);
    ben.leave();
    room.shell.advance(1000);
    const again = await room.join("ben", RECOVERS, place);
    expect(contents(again)).toEqual(["2"]);
  });
});

describe("CROWD-1: recovery while messages wait to be told of", () => {
  it("leads no further than the others have been told, and is possible again at once", async () => {
    const { room, ada, ben } = await crowd({ crowdShownRate: 1 });
    say(ada, "1", "2", "3");
    const place = recoveryAuthOf(ben);
    ben.leave();
    const again = await room.join("ben", RECOVERS, place);
    expect(contents(again)).toEqual([]);
    again.leave();
    const third = await room.join("ben", RECOVERS, place);
    expect(third.accepted("/")).toMatchObject({ sid: ben.accepted("/").sid });
    room.shell.advance(1000);
    expect(third.received("not-shown")).toEqual([{ from: 2, to: 3 }]);
  });

  it("from the news of them goes on with the message right behind it", async () => {
    const settings = { crowdShownRate: 1, flushWindowMs: 50 };
    const { room, ada, ben, people } = await crowd(settings, { user: "mo", role: "moderator" });
    say(ada, "1", "2");
    say(people[3]!, "3");
    room.shell.advance(50);
    expect(contents(ben)).toEqual(["1", "3"]);
    const news = ben.events().find(({ event }) => event[0] === "not-shown")!;
    const place = { ...recoveryAuthOf(ben), offset: news.event.at(-1) };
    ben.leave();
    expect(contents(await room.join("ben", RECOVERS, place))).toEqual(["3"]);
  });

  it("in a room that is no crowd any more they are told before the next message, which is a place to recover from", async () => {
    const { room, ada, people } = await crowd({ crowdShownRate: 1 }, { user: "mo", role: "moderator" });
    say(ada, "1", "2", "3");
    for (const user of ["cyd", "ben"]) await people[3]!.ask("kick", { user });
    say(ada, "4");
    const names = ada.events().map(({ event }) => String(event[0]));
    expect(names.filter((name) => /^(chat-message|not-shown)$/.test(name)).join(" ")).toBe(
      "chat-message not-shown chat-message",
    );
    const place = recoveryAuthOf(ada);
    ada.leave();
    const again = await room.join("ada", RECOVERS, place);
    expect(again.accepted("/")).toMatchObject({ sid: ada.accepted("/").sid });
  });
});

describe("ATT-1: a connection that attends to counts", () => {
  it("gets the number of the newest message now and then, in place of messages and what happens to them", async () => {
    const { room, ada, ben, cyd } = await crowd();
    expect(await ben.ask("attend", { to: "counts" })).toEqual({ ok: true, lastSeq: 0 });
    const { id } = await ada.ask("chat-message", { content: "1" });
    say(cyd, "2", "3");
    await ada.ask("edit-message", { id, content: "one" });
    await cyd.ask("react", { id, emoji: "👍", on: true });
    await ada.ask("delete-message", { id });
    ada.emit("typing", { on: true });
    expect(ben.received("counts")).toEqual([{ lastSeq: 1 }]);
    room.shell.advance(COUNTS_WINDOW_MS);
    expect(ben.received("counts")).toEqual([{ lastSeq: 1 }, { lastSeq: 3 }]);
    room.shell.advance(60_000);
    expect(ben.received("counts")).toHaveLength(2);
    for (const event of ["chat-message", "message-edited", "message-deleted", "reaction", "typing-count", "read"])
      expect(ben.received(event), event).toEqual([]);
    expect(cyd.received("counts")).toEqual([]);
    expect(cyd.received("reaction")).toHaveLength(1);
  });

  it("still gets answers, presence, moderation and notices, and its own marks", async () => {
    const { room, ben, people } = await crowd({}, { user: "mo", role: "moderator" });
    await ben.ask("attend", { to: "counts" });
    const { ok } = await ben.ask("chat-message", { content: "posted unseen" });
    await people[3]!.ask("mute", { user: "ben", seconds: 60 });
    await room.join("dan");
    room.quiet();
    expect([ok, ben.received("moderation").length, ben.received("presence").length > 0]).toEqual([true, 1, true]);
    expect((await ben.ask("history", {})).messages).toHaveLength(1);
  });

  it("ATT-2: with `all` hears what comes behind the answer; history and changes have the rest", async () => {
    const { room, ada, ben } = await crowd();
    const { rev } = ben.received<{ rev: number }>("welcome")[0]!;
    await ben.ask("attend", { to: "counts" });
    const { id } = await ada.ask("chat-message", { content: "1" });
    await ada.ask("edit-message", { id, content: "one" });
    expect(await ben.ask("attend", { to: "all" })).toEqual({ ok: true, lastSeq: 1 });
    say(ada, "2");
    room.quiet();
    expect(contents(ben)).toEqual(["2"]);
    expect((await ben.ask("changes", { after: rev })).messages).toMatchObject([{ id, content: "one" }]);
    expect(ben.received("counts")).toEqual([{ lastSeq: 1 }]);
  });

  it("ATT-2: attends to all again once it is recovered", async () => {
    const { room, ada, ben } = await crowd();
    say(ada, "1");
    await ben.ask("attend", { to: "counts" });
    const place = recoveryAuthOf(ben);
    ben.leave();
    const again = await room.join("ben", RECOVERS, place);
    say(ada, "2");
    expect(contents(again)).toEqual(["2"]);
  });

  it("ATT-3: goes on doing so after sleep", async () => {
    const { room, ada, ben } = await crowd();
    await ben.ask("attend", { to: "counts" });
    room.quiet();
    room.shell.evict();
    say(ada, "1");
    room.quiet();
    expect([contents(ben), ben.received("counts")]).toEqual([[], [{ lastSeq: 1 }]]);
  });
});
