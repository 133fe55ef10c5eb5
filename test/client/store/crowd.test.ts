// Tests the store of a room that is a crowd, against the real chat core in memory.
import { expect, it } from "vitest";

import type { RoomStore } from "../../../client/store/api.ts";
import { unreadOf } from "../../../client/store/unread.ts";
import { useStoredRoom } from "../../host/stored-room.ts";

const world = useStoredRoom();
const stored = (store: RoomStore): string[] => store.getSnapshot().messages.stored.map(({ content }) => content);

async function crowd(settings: object = {}): Promise<[RoomStore, RoomStore, RoomStore]> {
  world.begin({ crowdMembers: 2, ...settings });
  return [await world.enter("ada"), await world.enter("ben"), await world.enter("cyd")];
}

it("others who type are counted, without the user", async () => {
  const [ada, ben, cyd] = await crowd();
  ada.typing(true);
  ben.typing(true);
  await world.pass(6000);
  ada.typing(true);
  ben.typing(true);
  await world.pass(1000);
  expect([ada, ben, cyd].map((store) => store.getSnapshot().typingCount)).toEqual([1, 1, 2]);
  expect(cyd.getSnapshot().typing).toEqual([]);
  await world.pass(10_000);
  expect([ada, ben, cyd].map((store) => store.getSnapshot().typingCount)).toEqual([0, 0, 0]);
});

it.each([{ crowdMembers: 10 }, { crowdMembers: 2 }])(
  "nobody types any more for a user who looks again, where the end came meanwhile: $crowdMembers",
  async (settings) => {
    const [ada, ben] = await crowd(settings);
    ada.typing(true);
    await world.pass(100);
    const { typing, typingCount } = ben.getSnapshot();
    expect(typing.length + typingCount).toBe(1);
    await ben.attend("counts");
    await world.pass(10_000);
    void ben.attend("all");
    await world.pass(100);
    expect(ben.getSnapshot()).toMatchObject({ typing: [], typingCount: 0 });
  },
);

it("messages that were not shown have places, and are loaded when wanted; nothing is fetched before", async () => {
  const [ada, ben] = await crowd({ crowdShownRate: 2 });
  await world.post("dan", 5);
  await world.pass(1100);
  await world.post("eve", 1);
  await world.pass(1100);
  const { messages } = ben.getSnapshot();
  expect(stored(ben)).toEqual(["dan 1", "dan 2", "eve 1"]);
  expect(messages.notShown).toEqual([{ from: 3, to: 5 }]);
  await ben.loadNotShown(3);
  expect(stored(ben)).toEqual(["dan 1", "dan 2", "dan 3", "dan 4", "dan 5", "eve 1"]);
  expect(ben.getSnapshot().messages.notShown).toEqual([]);
  // The others still have them to load.
  expect(ada.getSnapshot().messages.notShown).toHaveLength(1);
});

it("the user's own message is there, also where the others are not shown it", async () => {
  const [ada, ben] = await crowd({ crowdShownRate: 1 });
  await world.post("dan", 2);
  await ada.send("mine");
  await world.pass(1100);
  await world.post("eve", 1);
  await world.pass(1100);
  expect(stored(ada)).toEqual(["dan 1", "mine", "eve 1"]);
  expect(ada.getSnapshot().messages.notShown).toEqual([{ from: 2, to: 2 }]);
  expect(ben.getSnapshot().messages.notShown).toEqual([{ from: 2, to: 3 }]);
});

it("more than a page of them are loaded page by page; a page of history fills its part", async () => {
  const [, ben] = await crowd({ crowdShownRate: 1 });
  await world.post("dan", 1);
  await world.pass(1100);
  await world.post("dan", 150);
  await world.pass(1100);
  await world.post("eve", 1);
  await world.pass(1100);
  expect(ben.getSnapshot().messages.notShown).toEqual([{ from: 3, to: 151 }]);
  await ben.loadNotShown(3);
  expect(ben.getSnapshot().messages.notShown).toEqual([{ from: 103, to: 151 }]);
  await ben.loadNotShown(103);
  expect(stored(ben)).toHaveLength(152);
  expect(ben.getSnapshot().messages.notShown).toEqual([]);
});

it("while it attends to counts the store counts what is unread, and loads all of it afterwards, changes too", async () => {
  const [ada, ben] = await crowd();
  await world.post("dan", 2);
  await world.pass(100);
  ben.markRead();
  await ben.attend("counts");
  const [first] = ada.getSnapshot().messages.stored;
  await ada.send("three");
  await world.post("dan", 1);
  await world.pass(100);
  const mine = ada.getSnapshot().messages.stored.at(-2)!;
  await ada.edit(mine.id, "three, edited");
  await world.pass(3000);
  expect(stored(ben)).toHaveLength(2);
  expect(unreadOf(ben.getSnapshot()).count).toBe(2);
  void ben.attend("all");
  await world.pass(100);
  expect(stored(ben)).toEqual(["dan 1", "dan 2", "three, edited", "dan 1"]);
  expect(ben.getSnapshot().messages.stored[0]).toEqual(first);
});

it("changes of messages that were loaded before come with the return to all", async () => {
  const [ada, ben] = await crowd();
  await ada.send("one");
  await world.pass(100);
  await ben.attend("counts");
  await ada.edit(ada.getSnapshot().messages.stored[0]!.id, "one, edited");
  await world.pass(3000);
  expect(stored(ben)).toEqual(["one"]);
  void ben.attend("all");
  await world.pass(100);
  expect(stored(ben)).toEqual(["one, edited"]);
});

it("changes that come right behind the answer do not hide those that were missed", async () => {
  const [ada, ben] = await crowd();
  await ada.send("one");
  await ada.send("two");
  await world.pass(100);
  const [one, two] = ada.getSnapshot().messages.stored;
  await ben.attend("counts");
  void ada.edit(one!.id, "one, edited");
  // Longer than the minute by which the room has each change asked for again.
  await world.pass(70_000);
  const line = world.lines[1]!;
  const deliver = line.onmessage!;
  const frames: object[] = [];
  Object.assign(line, { onmessage: (frame: object) => void frames.push(frame) });
  void ben.attend("all");
  await world.pass(100);
  void ada.edit(two!.id, "two, edited");
  await world.pass(100);
  Object.assign(line, { onmessage: deliver });
  for (const frame of frames) deliver(frame as never);
  await world.pass(100);
  expect(stored(ben)).toEqual(["one, edited", "two, edited"]);
});

it("asks for all messages again where the room refused to, because there were too many requests", async () => {
  const [, ben] = await crowd();
  await ben.attend("counts");
  const { room } = ben;
  for (let isRefused = false; !isRefused;) isRefused = "error" in (await room.ask("attend", { to: "counts" }));
  void ben.attend("all");
  await world.pass(1000);
  await world.post("dan", 1);
  await world.pass(3000);
  await world.post("dan", 1);
  await world.pass(100);
  expect(stored(ben)).toEqual(["dan 1", "dan 1"]);
});

it("a new connection attends to counts as the one before, fetches nothing meanwhile, and all of it afterwards", async () => {
  const [, ben] = await crowd();
  await world.post("dan", 1);
  await world.pass(100);
  await ben.attend("counts");
  await world.post("dan", 3);
  await world.pass(3000);
  await world.down();
  await world.up();
  expect([stored(ben), ben.getSnapshot().reading.lastSeq]).toEqual([["dan 1"], 4]);
  await world.post("eve", 1);
  await world.pass(3000);
  expect([stored(ben), ben.getSnapshot().reading.lastSeq]).toEqual([["dan 1"], 5]);
  void ben.attend("all");
  await world.pass(100);
  expect(stored(ben)).toEqual(["dan 1", "dan 1", "dan 2", "dan 3", "eve 1"]);
});
