// Tests the messages in a room's store, against the real chat core in memory.
import { expect, it } from "vitest";

import type { RoomStore } from "../../../client/store/api.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { useStoredRoom } from "../../host/stored-room.ts";

const world = useStoredRoom();
const stored = (store: RoomStore): string[] => store.getSnapshot().messages.stored.map(({ content }) => content);
const outgoing = (store: RoomStore): string[] =>
  store.getSnapshot().messages.outgoing.map(({ content, state }) => `${content} ${state}`);
const MINUTE_MS = 60_000;

async function answered<Answer>(asked: Promise<Answer>): Promise<Answer> {
  await world.pass(100);
  return asked;
}

it("a message is on its way at once, then stored, and others get it", async () => {
  const [ada, ben] = [await world.enter("ada"), await world.enter("ben")];
  const sent = ada.send("hello");
  expect([outgoing(ada), stored(ada)]).toEqual([["hello sending"], []]);
  await world.pass(100);
  expect(await sent).toMatchObject({ ok: true, seq: 1 });
  expect([outgoing(ada), stored(ada), stored(ben)]).toEqual([[], ["hello"], ["hello"]]);
});

it("waits without a connection, one after the other, and goes out with the next one", async () => {
  const ada = await world.enter("ada");
  await world.down();
  void ada.send("one");
  void ada.send("two");
  expect(outgoing(ada)).toEqual(["one queued", "two queued"]);
  expect(ada.getSnapshot().messages.outgoing[0]).toMatchObject({ content: "one", timestamp: ada.now() });
  await world.up();
  expect([outgoing(ada), stored(ada)]).toEqual([[], ["one", "two"]]);
});

it("only the first of several is being sent; none while slow mode holds them", async () => {
  const [ada, mia] = [await world.enter("ada"), await world.enter({ user: "mia", role: "moderator" })];
  void ada.send("one");
  void ada.send("two");
  expect(outgoing(ada)).toEqual(["one sending", "two queued"]);
  await world.pass(100);
  await mia.moderate("slow-mode", { seconds: 30 });
  await world.pass(100);
  void ada.send("three");
  await world.pass(100);
  expect(outgoing(ada)).toEqual(["three queued"]);
  expect(ada.getSnapshot().messages.outgoing[0]?.error).toMatchObject({ code: "SLOW_MODE" });
  await world.pass(31_000);
  expect([outgoing(ada), stored(ada).at(-1)]).toEqual([[], "three"]);
});

it("a refused one stays, with the reason, to be sent again or discarded", async () => {
  const [ada, mia] = [await world.enter("ada"), await world.enter({ user: "mia", role: "moderator" })];
  await mia.moderate("mute", { user: "ada", seconds: 60 });
  await world.pass(100);
  void ada.send("again");
  void ada.send("never");
  await world.pass(100);
  expect(outgoing(ada)).toEqual(["again failed", "never failed"]);
  const [again, never] = ada.getSnapshot().messages.outgoing;
  expect(again?.error?.code).toBe("MUTED");
  expect(ada.discard(never!.clientMsgId)).toBe(true);
  await mia.moderate("unmute", { user: "ada" });
  await world.pass(100);
  void ada.retry(again!);
  await world.pass(100);
  expect([outgoing(ada), stored(ada)]).toEqual([[], ["again"]]);
});

it("edits, deletions and reactions change the message for everybody", async () => {
  const [ada, ben] = [await world.enter("ada"), await world.enter("ben")];
  const { id } = await hear(ada, "helo");
  const [before] = ben.getSnapshot().messages.stored;
  const edited = ada.edit(id, "hello");
  const reacted = ben.react(id, "👍", true);
  await world.pass(100);
  expect([await edited, await reacted]).toMatchObject([{ ok: true }, { ok: true }]);
  expect(ben.getSnapshot().messages.stored[0]).toMatchObject({
    content: "hello",
    reactions: [{ emoji: "👍", count: 1, users: ["ben"] }],
  });
  expect(before).toMatchObject({ content: "helo" });
  expect(before).not.toHaveProperty("reactions");
  void ada.remove(id);
  await world.pass(100);
  expect(ben.getSnapshot().messages.stored[0]).toMatchObject({ content: "", deleted: true });
});

it("an action that the room refuses, or that has no connection, resolves with the reason", async () => {
  const [ada, ben] = [await world.enter("ada"), await world.enter("ben")];
  const { id } = await hear(ada, "mine");
  const refused = ben.edit(id, "yours");
  await world.pass(100);
  expect(await refused).toMatchObject({ error: { code: "FORBIDDEN" } });
  await world.down();
  expect(await ben.remove(id)).toMatchObject({ error: { code: "NO_CONNECTION" } });
  expect(await ben.search("mine")).toMatchObject({ error: { code: "NO_CONNECTION" } });
});

it("messages that changed while it was away are there when it comes back", async () => {
  const ada = await world.enter("ada");
  const { id } = await hear(ada, "helo");
  await world.down();
  await world.room.ask("edit-message", "ada", { id, content: "hello" });
  await world.post("ben", 2);
  await world.up();
  expect(stored(ada)).toEqual(["hello", "ben 1", "ben 2"]);
});

it("loads older pages, each message once, and says where the room begins", async () => {
  await world.post("ben", 180);
  const ada = await world.enter("ada");
  const { messages } = ada.getSnapshot();
  expect([messages.stored.length, messages.hasEarlier, messages.loading]).toEqual([50, true, undefined]);
  const loading = Promise.all([ada.loadEarlier(), ada.loadEarlier()]);
  expect(ada.getSnapshot().messages.loading).toBe("earlier");
  await world.pass(100);
  await loading;
  expect(stored(ada)).toHaveLength(150);
  void ada.loadEarlier();
  await world.pass(100);
  expect(stored(ada)).toEqual(Array.from({ length: 180 }, (_, at) => `ben ${at + 1}`));
  expect(ada.getSnapshot().messages.hasEarlier).toBe(false);
});

it("jumps to an old message and back, without losing messages of that time", async () => {
  await world.post("ben", 300);
  const ada = await world.enter("ada");
  const jumping = ada.jumpTo(20);
  await world.pass(100);
  expect(await jumping).toMatchObject({ ok: true });
  expect(ada.getSnapshot()).toMatchObject({
    messages: { hasLater: true },
    reading: { target: { seq: 20 }, following: false },
  });
  expect(stored(ada)).toContain("ben 20");
  await world.post("cleo", 1);
  await world.pass(100);
  expect(stored(ada)).not.toContain("cleo 1");
  expect(ada.getSnapshot().reading.missed).toBe(1);
  void ada.showNewest();
  await world.pass(100);
  expect([stored(ada).at(-1), ada.getSnapshot().reading]).toMatchObject(["cleo 1", { following: true, missed: 0 }]);
});

it("a jump to a message that is not there fails with NOT_FOUND, and changes nothing", async () => {
  await world.post("ben", 3);
  const ada = await world.enter("ada");
  const jumping = ada.jumpTo(99);
  await world.pass(100);
  expect(await jumping).toMatchObject({ error: { code: "NOT_FOUND" } });
  expect(ada.getSnapshot().problem).toMatchObject({ what: "jump", code: "NOT_FOUND" });
  ada.dismissProblem();
  expect([ada.getSnapshot().problem, stored(ada).length]).toEqual([undefined, 3]);
});

it("jumps to a message by its id, also to a deleted one; none has the id of another room's message", async () => {
  await world.post("ben", 300);
  const ada = await world.enter({ user: "ada", role: "moderator" });
  const old = await answered(ada.room.history({ after: 19, limit: 1 }));
  const { id } = (old as { readonly messages: readonly Message[] }).messages[0]!;
  const jumped = await answered(ada.jumpTo(id));
  expect(jumped).toMatchObject({ ok: true, message: { id, seq: 20, content: "ben 20" } });
  expect(ada.getSnapshot().reading.target).toMatchObject({ seq: 20 });
  await answered(ada.remove(id));
  await answered(ada.showNewest());
  expect(await answered(ada.jumpTo(id))).toMatchObject({ ok: true, message: { id, deleted: true } });
  for (const other of [`x${id}`, `${id}z`, "1", "constructor"]) {
    const outcome = await answered(ada.jumpTo(other));
    expect(outcome, other).toEqual({ error: { code: "NOT_FOUND", message: "That message is not there any more." } });
  }
  expect(await answered(ada.jumpTo("x".repeat(1000)))).toMatchObject({ error: { code: "INVALID_PAYLOAD" } });
});

it("jumps to the first message since a time", async () => {
  const startMs = Date.now();
  await world.post("ben", 120);
  await world.pass(MINUTE_MS);
  const nextMs = Date.now();
  await world.post("cleo", 120);
  await world.pass(MINUTE_MS);
  const ada = await world.enter("ada");
  for (const [time, content] of [
    [nextMs, "cleo 1"],
    [nextMs - 1000, "cleo 1"],
    [startMs, "ben 1"],
    [0, "ben 1"],
    [-MINUTE_MS, "ben 1"],
  ] as const)
    expect(await answered(ada.jumpTo(new Date(time))), String(time)).toMatchObject({ ok: true, message: { content } });
  const messages = stored(ada);
  for (const [time, error] of [
    [nextMs + MINUTE_MS, { code: "NOT_FOUND", message: "Nothing has been written since then." }],
    [8.64e15, { code: "NOT_FOUND" }],
    [NaN, { code: "INVALID_PAYLOAD" }],
  ] as const)
    expect(await answered(ada.jumpTo(new Date(time))), String(time)).toMatchObject({ error });
  expect(stored(ada)).toEqual(messages);
});

it("keeps the newest 1,000 while the user follows them, and all that a reader has loaded", async () => {
  await world.post("ben", 30);
  const [follower, reader] = [await world.enter("ada"), await world.enter("cleo")];
  reader.follow(false);
  await world.post("dan", 1020);
  await world.pass(500);
  expect([stored(follower).length, follower.getSnapshot().messages.hasEarlier]).toEqual([1000, true]);
  expect(stored(reader)).toHaveLength(1050);
});

it("shows the messages after a gap that is too long to users who follow the newest", async () => {
  const ada = await world.enter("ada");
  await hear(ada, "before");
  await world.down();
  await world.post("ben", 1500);
  await world.up();
  expect([stored(ada).length, stored(ada)[0], stored(ada).at(-1)]).toEqual([1000, "ben 501", "ben 1500"]);
  expect(ada.getSnapshot().messages.hasEarlier).toBe(true);
});

it("fetches a quoted message that is not loaded, once", async () => {
  await world.post("ben", 120);
  const first = (await world.room.ask("history", "ben", { limit: 1, after: 0 })).messages[0];
  const ada = await world.enter("ada");
  let heard = 0;
  ada.subscribe(() => heard++);
  expect([ada.quoted(first.id), ada.quoted(first.id)]).toEqual([undefined, undefined]);
  await world.pass(100);
  expect([ada.quoted(first.id)?.content, heard]).toEqual(["ben 1", 1]);
});

it("a quoted message that was deleted is `null`, whether it is loaded, or the room is asked for it", async () => {
  const ada = await world.enter("ada");
  const { id } = await hear(ada, "regretted");
  await answered(ada.remove(id));
  expect(ada.quoted(id)).toBe(null);
  await world.post("ben", 60);
  const cleo = await world.enter("cleo");
  expect(cleo.quoted(id)).toBe(undefined);
  await world.pass(100);
  expect(cleo.quoted(id)).toBe(null);
});

it("a deleted room begins empty, with the unsent messages, and what changes in it later is fetched, too", async () => {
  const ada = await world.enter("ada");
  const { id } = await hear(ada, "old");
  await hear(ada, "old, too");
  await answered(ada.edit(id, "older"));
  await world.down();
  void ada.send("new");
  world.beginAnew();
  await world.up();
  expect([stored(ada), outgoing(ada)]).toEqual([["new"], []]);
  await world.down();
  await world.room.ask("edit-message", "ada", { id: ada.getSnapshot().messages.stored[0]!.id, content: "newer" });
  await world.up();
  expect(stored(ada)).toEqual(["newer"]);
});

/** Sends a message, and waits until it is stored. */
async function hear(store: RoomStore, content: string): Promise<{ readonly id: string; readonly seq: number }> {
  const sent = store.send(content);
  await world.pass(100);
  return sent;
}
