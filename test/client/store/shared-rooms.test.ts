// Tests rooms that several holders share, against the real chat core in memory.
import { expect, it, vi } from "vitest";

import type { MessageItem } from "../../../client/store/message-items.ts";
import { itemsOf } from "../../../client/store/message-items.ts";
import { SharedRooms, type RoomHandle, type RoomOptions } from "../../../client/store/shared-rooms.ts";
import { ROOM } from "../../host/chat-room.ts";
import { FileRoom } from "../../host/file-room.ts";
import { useStoredRoom } from "../../host/stored-room.ts";

const world = useStoredRoom();
const BASE = "http://chat.example";

const roomsOf = (user: string): SharedRooms => new SharedRooms(BASE, { token: world.room.token(user), storage: null });
const state = (room: RoomHandle): string => room.getSnapshot().connection.state;
const items = (room: RoomHandle): readonly MessageItem[] => itemsOf(room.getSnapshot().messages, room.getSnapshot().me);

it("connects with the first holder, once for all of them, and leaves with the last", async () => {
  const rooms = roomsOf("ada");
  const room = rooms.get(ROOM);
  expect([rooms.get(ROOM) === room, world.lines.length, state(room)]).toEqual([true, 0, "connecting"]);
  const release = [room.hold(), room.hold()];
  await world.pass(100);
  expect([world.open, state(room)]).toEqual([1, "connected"]);
  release[0]!();
  release[0]!();
  await world.pass(100);
  expect(world.open).toBe(1);
  release[1]!();
  await world.pass(100);
  expect([world.open, world.lines.length]).toEqual([0, 1]);
});

it("stays connected where the next holder comes in the same turn", async () => {
  const room = roomsOf("ada").get(ROOM);
  const release = room.hold();
  release();
  const again = room.hold();
  await world.pass(100);
  expect([world.open, world.lines.length]).toEqual([1, 1]);
  again();
});

it("keeps the last state while no part holds it, and begins with a fresh one then", async () => {
  const room = roomsOf("ada").get(ROOM);
  const release = room.hold();
  await world.pass(100);
  void room.send("hello");
  await world.pass(100);
  let heard = 0;
  room.subscribe(() => heard++);
  release();
  await world.pass(100);
  await world.post("ben", 1);
  expect(items(room).map(({ content }) => content)).toEqual(["hello"]);
  const again = room.hold();
  await world.pass(100);
  expect(items(room).map(({ content }) => content)).toEqual(["hello", "ben 1"]);
  expect(heard).toBeGreaterThan(0);
  again();
});

it("is opened by its first use, as an effect of a child may be, and closed unless a part then holds it", async () => {
  const room = roomsOf("ada").get(ROOM);
  const sent = room.send("early");
  const release = room.hold();
  await world.pass(200);
  expect([await sent, world.lines.length]).toMatchObject([{ ok: true }, 1]);
  release();
  await world.pass(100);
  expect(room.quoted("1")).toBeUndefined();
  room.dismissProblem();
  expect(world.lines).toHaveLength(1);
  room.markRead();
  await world.pass(1000);
  expect([world.lines.length, world.open]).toEqual([2, 0]);
});

it("calls the newest token function, and asks the newest `inherit`", async () => {
  const asked: string[] = [];
  const tokenOf = (name: string) => (): string => {
    asked.push(name);
    return world.room.token("ada");
  };
  const rooms = new SharedRooms(BASE, { token: tokenOf("first"), storage: null });
  const release = rooms.get(ROOM).hold();
  await world.pass(100);
  rooms.options = { token: tokenOf("second"), storage: null };
  await world.down();
  await world.up();
  expect([...new Set(asked)]).toEqual(["first", "second"]);
  release();
});

it("asks the newest `previewOf` for the picture of a file", async () => {
  world.room = new FileRoom();
  vi.spyOn(globalThis, "fetch").mockRejectedValue(new TypeError("no network"));
  const asked: string[] = [];
  const optionsOf = (name: string): RoomOptions => ({
    token: world.room.token("ada"),
    storage: null,
    previewOf: async () => void asked.push(name),
  });
  const rooms = new SharedRooms(BASE, optionsOf("first"));
  const room = rooms.get(ROOM);
  const release = room.hold();
  await world.pass(100);
  rooms.options = optionsOf("second");
  room.addFiles([new File(["x"], "notes")]);
  await world.pass(100);
  expect(asked).toEqual(["second"]);
  release();
});

it("messages written before the connection have their author once the room has told who that is", async () => {
  await world.room.ask("slow-mode", { user: "mia", role: "moderator" }, { seconds: 30 });
  await world.post("ada", 1);
  const room = roomsOf("ada").get(ROOM);
  const release = room.hold();
  void room.send("held");
  void room.send("behind it");
  expect(items(room)).toMatchObject([{ sender: "" }, { sender: "" }]);
  await world.pass(200);
  expect(items(room).slice(1)).toMatchObject([
    { content: "held", state: "queued", sender: "ada", name: "ada" },
    { content: "behind it", state: "queued", sender: "ada", name: "ada" },
  ]);
  release();
});

it("a message keeps its key from its sending to its storing, and its object while nothing in it changes", async () => {
  const room = roomsOf("ada").get(ROOM);
  const release = room.hold();
  await world.pass(100);
  void room.send("hello");
  const [sending] = items(room);
  expect(sending).toMatchObject({ state: "sending", isOwn: true, sender: "ada", name: "ada" });
  await world.pass(100);
  const [stored] = items(room);
  expect(stored).toMatchObject({ state: "stored", isOwn: true, seq: 1, key: sending!.key });
  await world.post("ben", 1);
  await world.pass(100);
  expect(items(room)[0]).toBe(stored);
  expect(items(room)[1]).toMatchObject({ state: "stored", isOwn: false, content: "ben 1" });
  release();
});
