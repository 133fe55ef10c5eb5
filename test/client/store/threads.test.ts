// Tests threads in a room's store, against the real chat core in memory: what they count, how they follow the room's events, and what is asked for.
import { expect, it } from "vitest";

import type { RoomStore } from "../../../client/store/api.ts";
import { REPLIES_LIMIT_DEFAULT } from "../../../src/protocol/limits.ts";
import { useStoredRoom } from "../../host/stored-room.ts";

const world = useStoredRoom();

/** Posts without a connection. @returns the id */
const post = async (user: string, content: string, replyTo?: string): Promise<string> => {
  const { id } = await world.room.ask("chat-message", user, { content, ...(replyTo !== undefined && { replyTo }) });
  await world.pass(50);
  return id as string;
};
const replies = (store: RoomStore, id: string): string[] => store.threads.of(id).replies.map(({ content }) => content);
const own = (store: RoomStore) =>
  store.threads.own.threads.map(({ first, replies, unread }) => [first?.content, replies, unread]);

it("replies to loaded messages are counted, without the deleted ones, and name who wrote last", async () => {
  const [ada, ben] = [await world.enter("ada"), await world.enter("ben")];
  const first = await post("ada", "first");
  const gone = await post("ben", "one", first);
  const reply = await post("ben", "two", first);
  await post("cy", "nested", reply);
  expect(ada.threads.repliesTo(first)).toMatchObject({ count: 3, people: ["cy", "ben"] });
  await ben.remove(gone);
  await world.pass(50);
  expect(ada.threads.repliesTo(first)).toMatchObject({ count: 2, people: ["cy", "ben"] });
  expect(ada.threads.repliesTo(reply)).toBeUndefined();
});

it("in a part of the past those are counted that are loaded, and it says that there may be more", async () => {
  const first = await post("ben", "first");
  await post("cy", "soon", first);
  await world.post("ben", 120);
  await post("ben", "late", first);
  const ada = await world.enter("ada");
  await ada.jumpTo(1);
  await world.pass(50);
  expect(ada.getSnapshot().messages.hasLater).toBe(true);
  expect(ada.threads.repliesTo(first)).toMatchObject({ count: 1, people: ["cy"], isPartial: true });
});

it("an opened thread has its replies from anywhere, and follows posts, edits, reactions and deletions", async () => {
  const first = await post("ada", "first");
  await post("ben", "old", first);
  await world.post("ben", 60);
  const [ada, ben] = [await world.enter("ada"), await world.enter("ben")];
  expect(ada.threads.of(first)).toMatchObject({ thread: undefined, isLoading: true });
  await world.pass(50);
  expect(ada.threads.of(first)).toMatchObject({ first: { content: "first" }, thread: { replies: 1, unread: 1 } });
  const reply = await post("ben", "new", first);
  expect(replies(ada, first)).toEqual(["old", "new"]);
  await ben.edit(reply, "newer");
  await ben.react(reply, "👍", true);
  await world.pass(50);
  expect(ada.threads.of(first).replies[1]).toMatchObject({ content: "newer", reactions: [{ emoji: "👍" }] });
  expect(ada.threads.of(first).thread).toMatchObject({ replies: 2, unread: 2 });
  await ben.remove(reply);
  await world.pass(50);
  expect(replies(ada, first)).toEqual(["old"]);
  expect(ada.threads.of(first).thread).toMatchObject({ replies: 1 });
});

it("a long thread is loaded page by page", async () => {
  const first = await post("ben", "first");
  for (let at = 1; at <= REPLIES_LIMIT_DEFAULT + 5; at++) await post("ben", `${at}`, first);
  const ada = await world.enter("ada");
  void ada.threads.of(first);
  await world.pass(50);
  expect([replies(ada, first).length, ada.threads.of(first).hasEarlier]).toEqual([REPLIES_LIMIT_DEFAULT, true]);
  await Promise.all([ada.threads.load(first), world.pass(50)]);
  expect([replies(ada, first).length, ada.threads.of(first).hasEarlier]).toEqual([REPLIES_LIMIT_DEFAULT + 5, false]);
  expect(replies(ada, first).slice(0, 2)).toEqual(["1", "2"]);
});

it("the list follows what is new, what the user reads here and elsewhere, and what they leave", async () => {
  const [ada, tab] = [await world.enter("ada"), await world.enter("ada")];
  const [one, two] = [await post("ada", "one"), await post("ada", "two")];
  for (const store of [ada, tab]) expect(own(store)).toEqual([]);
  await world.pass(100);
  await post("ben", "to one", one);
  await world.pass(3000);
  expect([own(ada), ada.threads.own.unread]).toEqual([[["one", 1, 1]], 1]);
  await post("ben", "to two", two);
  await post("ben", "to one again", one);
  await world.pass(3000);
  expect(own(ada)).toEqual([
    ["one", 2, 2],
    ["two", 1, 1],
  ]);
  void ada.threads.of(one);
  await world.pass(50);
  ada.threads.markRead(one);
  expect([own(ada)[0], ada.threads.own.unread], "at once").toEqual([["one", 2, 0], 1]);
  await world.pass(1500);
  expect(own(tab), "and on the other device").toEqual(own(ada));
  await Promise.all([ada.threads.follow(two, false), world.pass(100)]);
  for (const store of [ada, tab]) expect([own(store), store.threads.own.unread]).toEqual([[["one", 2, 0]], 0]);
});

it("what comes after the user has read a thread is new again", async () => {
  const [ada, tab] = [await world.enter("ada"), await world.enter("ada")];
  const first = await post("ada", "first");
  await post("ben", "seen", first);
  void [ada.threads.of(first), tab.threads.of(first)];
  await world.pass(50);
  ada.threads.markRead(first);
  await post("ben", "not seen", first);
  for (const { threads } of [ada, tab]) expect(threads.of(first).thread).toMatchObject({ seenSeq: 2, unread: 1 });
});

it("what was missed while away is loaded again", async () => {
  const ada = await world.enter("ada");
  const first = await post("ada", "first");
  const old = await post("ben", "old", first);
  void [ada.threads.of(first), ada.threads.own];
  await world.pass(50);
  await world.down();
  await post("ben", "new", first);
  await world.room.ask("delete-message", { user: "ben", name: "ben", role: "member" }, { id: old });
  await world.up();
  void ada.threads.of(first);
  await world.pass(50);
  expect(replies(ada, first)).toEqual(["new"]);
  expect(own(ada)).toEqual([["first", 1, 1]]);
});

/** @returns the events that a store asks the room for from now on */
function askedBy({ room }: RoomStore): string[] {
  const asked: string[] = [];
  const ask = room.ask.bind(room);
  room.ask = ((event: string, payload: never) => {
    asked.push(event);
    return ask(event as never, payload);
  }) as typeof room.ask;
  return asked;
}

it("after a break those are loaded again that somebody draws, and the others when they are drawn again", async () => {
  const ids = [await post("ben", "one"), await post("ben", "two"), await post("ben", "three")];
  const [one, two] = ids as [string, string];
  const ada = await world.enter("ada");
  for (const id of ids) void ada.threads.of(id);
  await world.pass(50);
  const asked = askedBy(ada);
  const draw = ada.subscribe(() => void ada.threads.of(one));
  await world.down();
  await post("ben", "to one", one);
  await post("ben", "to two", two);
  await world.up();
  const questions = (): number => asked.filter((event) => event === "thread").length;
  expect([replies(ada, one), questions()]).toEqual([["to one"], 1]);
  void ada.threads.of(two);
  await world.pass(50);
  expect([replies(ada, two), questions()]).toEqual([["to two"], 2]);
  draw();
});

it("a reply to a message that is not loaded makes each user ask once whether it is theirs, and not for the list", async () => {
  const first = await post("ada", "first");
  await world.post("ben", 60);
  const [ada, cy] = [await world.enter("ada"), await world.enter("cy")];
  for (const store of [ada, cy]) expect(own(store)).toEqual([]);
  await world.pass(100);
  const asked = askedBy(cy);
  await post("ben", "to the first", first);
  await post("ben", "and again", first);
  await world.pass(3000);
  expect(own(ada)).toEqual([["first", 2, 2]]);
  expect([own(cy), asked]).toEqual([[], ["thread"]]);
});

it("the list has its messages as they are: edited, deleted, and without deleted replies", async () => {
  const [ada, ben] = [await world.enter("ada"), await world.enter("ben")];
  const first = await post("ada", "first");
  const reply = await post("ben", "reply", first);
  await post("ben", "last", first);
  expect(own(ada)).toEqual([]);
  await world.pass(50);
  expect(own(ada)).toEqual([["first", 2, 2]]);
  await ada.edit(first, "first, edited");
  await ben.remove(reply);
  await world.pass(50);
  expect(own(ada)).toEqual([["first, edited", 1, 1]]);
  await ada.remove(first);
  await world.pass(50);
  expect(ada.threads.own.threads).toMatchObject([{ first: { deleted: true, content: "" }, replies: 1, unread: 1 }]);
});

it("what another device has seen of a thread is seen here, the rest is not", async () => {
  const [ada, tab] = [await world.enter("ada"), await world.enter("ada")];
  const first = await post("ada", "first");
  await post("ben", "one", first);
  void [ada.threads.own, tab.threads.own, tab.threads.of(first)];
  await world.pass(50);
  await post("ben", "two", first);
  expect(own(tab)).toEqual([["first", 2, 2]]);
  await ada.ask("read-thread", { id: first, seq: 2 });
  await world.pass(3000);
  expect([own(tab), tab.threads.of(first).thread?.unread]).toEqual([[["first", 2, 1]], 1]);
});

it("the user's own reply is there as soon as the room has it, in its thread, also where a crowd is not shown it", async () => {
  world.begin({ crowdMembers: 2, crowdShownRate: 1 });
  const [ada] = [await world.enter("ada"), await world.enter("ben"), await world.enter("cyd")];
  const first = await post("ben", "first");
  await world.pass(1100);
  const reply = await post("ben", "reply", first);
  await world.pass(1100);
  void ada.threads.of(first);
  await world.pass(50);
  await world.post("dan", 2);
  await ada.send("mine", { replyTo: reply });
  await world.pass(50);
  expect(replies(ada, first)).toEqual(["reply", "mine"]);
  expect(ada.threads.of(first).thread).toMatchObject({ replies: 2, following: true });
  expect([ada.threads.repliesTo(first)?.count, ada.threads.repliesTo(reply)]).toEqual([2, undefined]);
});

it("nothing is asked for before somebody wants threads", async () => {
  const first = await post("ada", "first");
  await post("ben", "reply", first);
  const ada = await world.enter("ada");
  const asked = askedBy(ada);
  await post("ben", "another", first);
  expect(ada.threads.repliesTo(first)).toMatchObject({ count: 2 });
  await world.pass(3000);
  expect(asked).toEqual([]);
});
