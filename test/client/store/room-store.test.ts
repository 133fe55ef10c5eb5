// Tests the other parts of a room's store, and its snapshots, against the real chat core in memory.
import { describe, expect, it, vi } from "vitest";

import type { RoomStore } from "../../../client/store/api.ts";
import { createRoomStore } from "../../../client/store/room-store.ts";
import type { RoomState } from "../../../client/store/state.ts";
import { unreadOf } from "../../../client/store/unread.ts";
import { useStoredRoom } from "../../host/stored-room.ts";

const world = useStoredRoom();
const MIA = { user: "mia", role: "moderator" } as const;
const typists = (store: RoomStore): string[] => store.getSnapshot().typing.map(({ name }) => name);

describe("snapshots", () => {
  it("are the same object until something changes, and so is each part", async () => {
    const [ada, ben] = [await world.enter("ada"), await world.enter("ben")];
    // Until all members have heard of both.
    await world.pass(2000);
    const before = ben.getSnapshot();
    expect(ben.getSnapshot()).toBe(before);
    void ada.send("hello");
    await world.pass(100);
    const after = ben.getSnapshot();
    expect(after).not.toBe(before);
    const changed = (Object.keys(after) as Array<keyof RoomState>).filter((part) => after[part] !== before[part]);
    expect(changed).toEqual(["messages", "reading"]);
  });

  it("begin with a list of members that is not complete", () => {
    const store = createRoomStore(world.connect("ada"));
    expect(store.getSnapshot().presence).toEqual({ count: 0, members: [], isComplete: false });
    store.close();
  });

  it("keep the parts in which a lost connection and the next one change nothing", async () => {
    await world.post("ben", 1);
    const ada = await world.enter("ada");
    ada.markRead();
    await world.pass(2000);
    const { typing, readMarks } = ada.getSnapshot();
    expect(readMarks.get("ada")).toBe(1);
    await world.down();
    expect(ada.getSnapshot().typing).toBe(typing);
    await world.up();
    expect(ada.getSnapshot().typing).toBe(typing);
    expect(ada.getSnapshot().readMarks).toBe(readMarks);
  });

  it("never change once they were handed out", async () => {
    const [ada, ben] = [await world.enter("ada"), await world.enter("ben")];
    const kept: Array<readonly [state: RoomState, text: string]> = [];
    const keep = (): void => void kept.push([ben.getSnapshot(), textOf(ben.getSnapshot())]);
    ben.subscribe(keep);
    ada.typing(true);
    const sent = ada.send("hello");
    void ben.send("hi");
    await world.pass(100);
    const { id } = await sent;
    void ada.edit(id, "hello, all");
    void ben.react(id, "👍", true);
    ben.markRead();
    await world.enter("cleo");
    void ada.remove(id);
    await world.pass(2000);
    await world.down();
    void ben.send("later");
    await world.up();
    expect(kept.length).toBeGreaterThan(10);
    for (const [state, text] of kept) expect(textOf(state)).toBe(text);
  });

  it("come once for all changes of a turn, until the subscription ends", async () => {
    const ada = await world.enter("ada");
    const heard: number[] = [];
    const listener = (): void => void heard.push(ada.getSnapshot().messages.outgoing.length);
    const ends = [ada.subscribe(listener), ada.subscribe(listener)];
    void ada.send("one");
    void ada.send("two");
    expect(heard).toEqual([]);
    await Promise.resolve();
    expect(heard).toEqual([2, 2]);
    ends[0]!();
    void ada.send("three");
    await Promise.resolve();
    expect(heard).toEqual([2, 2, 3]);
    ends[1]!();
    await world.pass(100);
    expect(heard).toHaveLength(3);
  });

  it("stay as they were once the store is closed", async () => {
    const ada = await world.enter("ada");
    void ada.send("hello");
    await world.pass(100);
    ada.close();
    await world.post("ben", 1);
    await world.pass(100);
    expect([ada.getSnapshot().messages.stored.length, world.open]).toEqual([1, 0]);
    await expect(ada.send("late")).rejects.toMatchObject({ code: "CLOSED" });
  });
});

const textOf = (state: RoomState): string =>
  JSON.stringify(state, (_key, value: unknown) => (value instanceof Map ? Array.from(value) : value));

describe("people", () => {
  it("are listed with name and role, as they come, go, and are given a role", async () => {
    const mia = await world.enter({ ...MIA, name: "Mia" });
    await world.enter({ user: "u2", name: "Ben 10" });
    const ben = await world.enter({ user: "u1", name: "Ben 2" });
    const members = (): string[] => mia.getSnapshot().presence.members.map(({ name, role }) => `${name} ${role}`);
    expect(members()).toEqual(["Ben 2 undefined", "Ben 10 undefined", "Mia moderator"]);
    expect(mia.getSnapshot().names.get("u1")).toBe("Ben 2");
    void mia.moderate("grant", { user: "u1", role: "moderator" });
    await world.pass(500);
    expect([members()[0], ben.getSnapshot().me]).toMatchObject(["Ben 2 moderator", { isModerator: true }]);
    expect(mia.getSnapshot().moderation).toMatchObject({ action: "grant", user: "u1", by: "mia" });
    ben.close();
    await world.pass(30_000);
    expect(mia.getSnapshot().presence).toMatchObject({ count: 2, isComplete: true });
    expect(mia.getSnapshot().names.get("u1")).toBe("Ben 2");
  });

  it("can be found by a part of their name", async () => {
    const ada = await world.enter("ada");
    await world.enter({ user: "u1", name: "Benedict" });
    const finding = ada.findMembers("dict");
    await world.pass(100);
    expect(await finding).toMatchObject({ ok: true, members: [{ user: "u1" }] });
  });

  it("who type are there until the room ends it, or the connection is lost", async () => {
    const [ada, ben] = [await world.enter("ada"), await world.enter("ben")];
    ada.typing(true);
    await world.pass(1000);
    expect([typists(ben), typists(ada)]).toEqual([["ada"], []]);
    await world.pass(5000);
    expect(typists(ben)).toEqual([]);
    ada.typing(true);
    await world.pass(100);
    void ada.send("done");
    await world.pass(100);
    expect(typists(ben)).toEqual([]);
    ada.typing(true);
    await world.pass(100);
    await world.down();
    expect(typists(ben)).toEqual([]);
  });

  it("who empty the field are there no more, also three seconds after the last key that the room heard of", async () => {
    const [ada, ben] = [await world.enter("ada"), await world.enter("ben")];
    ada.typing(true);
    await world.pass(3500);
    expect(typists(ben)).toEqual(["ada"]);
    ada.typing(false);
    await world.pass(100);
    expect(typists(ben)).toEqual([]);
    const ask = vi.spyOn(ada.room, "ask");
    ada.typing(true);
    await world.pass(5000);
    // The room has ended it by itself.
    ada.typing(false);
    expect(ask.mock.calls).toEqual([["typing", { on: true }]]);
  });

  it("one's own keys reach the room every three seconds", async () => {
    const ada = await world.enter("ada");
    const ask = vi.spyOn(ada.room, "ask");
    for (let key = 0; key < 40; key++) {
      ada.typing(true);
      await world.pass(100);
    }
    expect(ask.mock.calls.filter(([event]) => event === "typing")).toHaveLength(2);
    ada.typing(false);
    ada.typing(false);
    expect(ask.mock.calls.filter(([event]) => event === "typing")).toHaveLength(3);
  });
});

it("a link card is not known before the welcome, which tells whether there are any", async () => {
  const store = createRoomStore(world.connect("ada"));
  expect(store.linkCard("https://news.example.org/")).toBe(undefined);
  await world.pass(100);
  expect(store.linkCard("https://news.example.org/")).toBe(null);
  store.close();
});

describe("the user's rights", () => {
  it("readers may not write; in a read-only room moderators alone may", async () => {
    const [reader, ada, mia] = [
      await world.enter({ user: "rita", role: "reader" }),
      await world.enter("ada"),
      await world.enter(MIA),
    ];
    const blocked = (): unknown[] => [reader, ada, mia].map((store) => store.getSnapshot().me.blocked);
    expect(blocked()).toEqual(["READER", undefined, undefined]);
    void mia.moderate("read-only", { on: true });
    await world.pass(100);
    expect(blocked()).toEqual(["READER", "ROOM_READ_ONLY", undefined]);
    expect(ada.getSnapshot().modes).toMatchObject({ readOnly: true });
  });

  it("a mute holds messages until its end, of which subscribers hear", async () => {
    const [ada, mia] = [await world.enter("ada"), await world.enter(MIA)];
    void mia.moderate("mute", { user: "ada", seconds: 60 });
    await world.pass(100);
    const { hold } = ada.getSnapshot().me;
    expect(hold).toMatchObject({ code: "MUTED" });
    expect(hold!.untilMs - ada.now()).toBeGreaterThan(59_000);
    let heard = 0;
    ada.subscribe(() => heard++);
    await world.pass(60_000);
    expect([ada.getSnapshot().me.hold, heard]).toEqual([undefined, 1]);
  });

  it("after a kick nothing can be written, and waiting messages have failed", async () => {
    const [ada, mia] = [await world.enter("ada"), await world.enter(MIA)];
    void mia.moderate("slow-mode", { seconds: 30 });
    await world.pass(100);
    void ada.send("one");
    await world.pass(100);
    void ada.send("two");
    await world.pass(100);
    void mia.moderate("kick", { user: "ada" });
    await world.pass(100);
    const { me, messages } = ada.getSnapshot();
    expect([me.blocked, messages.outgoing]).toMatchObject(["KICKED", [{ content: "two", state: "failed" }]]);
    ada.connect();
    await world.pass(3000);
    expect(ada.getSnapshot().me.blocked).toBeUndefined();
  });

  it("with a message depends on its author, and on the time", async () => {
    const [ada, ben] = [await world.enter("ada"), await world.enter("ben")];
    void ada.send("hello");
    await world.pass(100);
    const [message] = ben.getSnapshot().messages.stored;
    expect(ada.abilitiesOf(message!)).toEqual({ reply: true, react: true, edit: true, remove: true, moderate: false });
    expect(ben.abilitiesOf(message!)).toMatchObject({ edit: false, remove: false });
  });
});

describe("reading", () => {
  it("counts the messages of others since, and knows the first of them", async () => {
    await world.post("ben", 3);
    const ada = await world.enter("ada");
    expect(unreadOf(ada.getSnapshot())).toEqual({ count: 3, firstSeq: 1, mentions: 0 });
    ada.markRead(2);
    expect(unreadOf(ada.getSnapshot())).toEqual({ count: 1, firstSeq: 3, mentions: 0 });
    void ada.send("mine");
    await world.post("ben", 1);
    await world.pass(100);
    expect(unreadOf(ada.getSnapshot())).toEqual({ count: 2, firstSeq: 3, mentions: 0 });
    ada.markRead();
    expect(unreadOf(ada.getSnapshot())).toEqual({ count: 0, firstSeq: undefined, mentions: 0 });
  });

  it("counts places where not all of them are loaded", async () => {
    await world.post("ben", 200);
    const ada = await world.enter("ada");
    expect(unreadOf(ada.getSnapshot())).toEqual({ count: 200, firstSeq: undefined, mentions: 0 });
    ada.markRead(170);
    expect(unreadOf(ada.getSnapshot())).toEqual({ count: 30, firstSeq: 171, mentions: 0 });
  });

  it("tells the room once a second, others hear of it, and so do the user's other devices", async () => {
    await world.post("ben", 9);
    const [ada, tablet, ben] = [await world.enter("ada"), await world.enter("ada"), await world.enter("ben")];
    const ask = vi.spyOn(ada.room, "ask");
    for (let seq = 1; seq <= 9; seq++) ada.markRead(seq);
    await world.pass(2500);
    expect(ask.mock.calls).toEqual([["read", { seq: 9 }]]);
    expect(ben.getSnapshot().readMarks.get("ada")).toBe(9);
    expect(unreadOf(tablet.getSnapshot()).count).toBe(0);
  });

  it("is reported at once when the page goes away", async () => {
    await world.post("ben", 2);
    const ada = await world.enter("ada");
    const ask = vi.spyOn(ada.room, "ask");
    ada.markRead();
    ada.flush();
    expect(ask.mock.calls).toEqual([["read", { seq: 2 }]]);
  });

  it("opens at the first unread message where that is asked for", async () => {
    await world.post("ben", 200);
    const before = await world.enter("ada");
    before.markRead(20);
    before.close();
    await world.pass(2000);
    const ada = await world.enter("ada", { openAt: "unread" });
    const { messages, reading } = ada.getSnapshot();
    expect(reading).toMatchObject({
      unreadAfter: 20,
      target: { seq: 21, isUnread: true },
      news: { count: 180 },
      following: false,
    });
    expect([messages.hasEarlier || messages.stored[0]?.seq === 1, messages.hasLater]).toEqual([true, true]);
    void ada.send("I am back");
    await world.pass(200);
    expect(ada.getSnapshot()).toMatchObject({
      messages: { hasLater: false },
      reading: { news: undefined, following: true },
    });
  });
});

describe("problems", () => {
  it("history that cannot be loaded is a problem, and is loaded later", async () => {
    await world.post("ben", 2);
    const room = world.connect("ada");
    const history = vi.spyOn(room, "history").mockRejectedValueOnce(new Error("nothing came"));
    const store = createRoomStore(room);
    await world.pass(100);
    expect(store.getSnapshot()).toMatchObject({
      problem: { what: "history", code: "NO_ANSWER" },
      messages: { isLoaded: false, isOpening: false },
    });
    await world.pass(3000);
    void store.loadEarlier();
    await world.pass(100);
    expect([store.getSnapshot().messages.stored.length, history.mock.calls.length]).toEqual([2, 2]);
    store.close();
  });

  it("the room's own errors, too", async () => {
    const ada = await world.enter("ada");
    ada.room.socket.emit("react", { id: "nonsense", emoji: "👍", on: true });
    await world.pass(100);
    expect(ada.getSnapshot().problem).toMatchObject({ what: "room", code: "NOT_FOUND" });
  });
});
