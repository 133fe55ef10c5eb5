// Tests what a user finds who comes back to the newest messages: after a time out of view, or without a connection.
import { expect, it } from "vitest";

import type { RoomStore } from "../../../client/store/api.ts";
import { unreadOf } from "../../../client/store/unread.ts";
import { useStoredRoom } from "../../host/stored-room.ts";

const world = useStoredRoom();

/** A user who has read three messages, the newest of the room. */
async function enterUpToDate(user = "ada"): Promise<RoomStore> {
  await world.post("ben", 3);
  const store = await world.enter(user);
  store.markRead();
  await world.pass(1500);
  return store;
}

const placeOf = (store: RoomStore) => {
  const { unreadAfter, news, following, missed, readSeq } = store.getSnapshot().reading;
  return { unreadAfter, count: (news?.count ?? 0) + missed, following, readSeq };
};

const away: ReadonlyArray<readonly [string, (store: RoomStore) => Promise<void>]> = [
  [
    "out of view",
    async (store) => {
      store.look(false);
      await world.post("ben", 2);
      await world.pass(100);
      await world.post("cleo", 1);
      await world.pass(100);
      store.look(true);
    },
  ],
  [
    "without a connection",
    async () => {
      await world.down();
      await world.post("ben", 2);
      await world.post("cleo", 1);
      await world.up();
    },
  ],
  [
    "with counts alone",
    async (store) => {
      await store.attend("counts");
      await world.post("ben", 3);
      await world.pass(3000);
      void store.attend("all");
      await world.pass(500);
    },
  ],
];

it.each(away)(
  "%s: the first message that was missed is marked, they are counted, and none is read",
  async (_, goes) => {
    const store = await enterUpToDate();
    const leaving = goes(store);
    await world.pass(10_000);
    await leaving;
    expect(placeOf(store)).toEqual({ unreadAfter: 3, count: 3, following: false, readSeq: 3 });
    expect(store.getSnapshot().reading.target).toEqual({ seq: 4, isUnread: true });
    expect(unreadOf(store.getSnapshot()).count).toBe(3);
    store.follow(true);
    store.markRead();
    await world.post("ben", 1);
    await world.pass(100);
    expect(placeOf(store)).toMatchObject({ unreadAfter: 3, count: 0, following: true });
  },
);

it("further up in the history: the first message that came meanwhile is marked, for when the user comes down again", async () => {
  const store = await enterUpToDate();
  store.follow(false);
  await world.post("ben", 2);
  await world.pass(100);
  expect(placeOf(store)).toEqual({ unreadAfter: 3, count: 2, following: false, readSeq: 3 });
  expect(store.getSnapshot().reading).toMatchObject({ missed: 2, news: undefined, target: undefined });
  await store.showNewest();
  store.markRead();
  expect(placeOf(store)).toEqual({ unreadAfter: 3, count: 0, following: true, readSeq: 5 });
  await world.post("ben", 1);
  await world.pass(100);
  expect(placeOf(store)).toMatchObject({ unreadAfter: 3, count: 0 });
});

it.each(away)("%s, again: the line moves behind what was read in between", async (_, goes) => {
  const store = await enterUpToDate();
  for (const after of [3, 6]) {
    const leaving = goes(store);
    await world.pass(10_000);
    await leaving;
    expect(placeOf(store)).toMatchObject({ unreadAfter: after, count: 3 });
    store.follow(true);
    store.markRead();
    await world.pass(1500);
  }
});

it("own and deleted messages are no news, whenever they are deleted", async () => {
  const store = await enterUpToDate();
  const remove = async (seq: number): Promise<void> => {
    await world.room.ask(
      "delete-message",
      { user: "ben" },
      { id: store.getSnapshot().messages.stored.find((one) => one.seq === seq)!.id },
    );
    await world.pass(100);
  };
  store.look(false);
  await world.post("ben", 3);
  await world.post("ada", 1);
  await world.pass(100);
  await remove(5);
  expect(placeOf(store)).toMatchObject({ count: 2 });
  store.look(true);
  await world.post("ben", 2);
  await world.pass(100);
  await remove(9);
  await remove(3);
  expect(placeOf(store)).toMatchObject({ count: 3 });
  for (const seq of [8, 4, 6]) await remove(seq);
  expect(store.getSnapshot().reading.news).toBeUndefined();
  expect(placeOf(store)).toMatchObject({ count: 0 });

  await world.down();
  await world.post("ben", 2);
  await world.room.ask(
    "delete-message",
    { user: "ben" },
    { id: (await world.room.ask("history", "ben", { limit: 1 })).messages[0].id },
  );
  await world.up();
  expect(placeOf(store)).toMatchObject({ count: 1 });
});

it("who does not look cannot reach the newest message, and own messages are nothing new", async () => {
  const store = await enterUpToDate();
  store.look(false);
  void store.send("from here");
  await world.pass(100);
  expect(placeOf(store)).toEqual({ unreadAfter: undefined, count: 0, following: true, readSeq: 3 });
  await world.post("ben", 1);
  await world.pass(100);
  store.follow(true);
  expect(placeOf(store)).toMatchObject({ count: 1, following: false });
});

it("what another device of the user reads meanwhile is not new any more", async () => {
  const [store, phone] = [await enterUpToDate(), await world.enter("ada")];
  store.look(false);
  await world.post("ben", 4);
  await world.pass(100);
  phone.markRead(5);
  await world.pass(3000);
  expect(placeOf(store)).toMatchObject({ unreadAfter: 5, count: 2, following: false });
  expect(store.getSnapshot().reading.target).toMatchObject({ seq: 6 });
  phone.markRead(7);
  await world.pass(3000);
  expect(placeOf(store)).toEqual({ unreadAfter: undefined, count: 0, following: true, readSeq: 7 });
});

it("a reader of older messages stays there, and finds the line below", async () => {
  const store = await enterUpToDate();
  store.follow(false);
  store.look(false);
  await world.post("ben", 2);
  await world.pass(100);
  store.look(true);
  expect(placeOf(store)).toEqual({ unreadAfter: 3, count: 2, following: false, readSeq: 3 });
  expect(store.getSnapshot().reading).toMatchObject({ target: undefined, news: undefined });
});

it("messages marked as unread stay unread on all devices, although the user sees them, until they read on", async () => {
  const store = await enterUpToDate();
  const phone = await world.enter("ada");
  await world.post("ben", 2);
  await world.pass(100);
  for (const device of [store, phone]) device.markRead();
  await world.pass(1500);
  expect(placeOf(store).readSeq).toBe(5);
  const marking = store.markUnread(4);
  await world.pass(1500);
  expect(await marking).toEqual({ ok: true });
  for (const device of [store, phone]) {
    device.markRead();
    expect(device.getSnapshot().reading).toMatchObject({ readSeq: 3, unreadAfter: 3, keptUnread: true });
    expect(unreadOf(device.getSnapshot())).toMatchObject({ count: 2, firstSeq: 4 });
  }
  await world.pass(3000);
  expect((await world.enter("ada")).getSnapshot().reading).toMatchObject({ readSeq: 3, unreadAfter: 3 });
  void phone.showNewest();
  phone.markRead();
  await world.pass(3000);
  for (const device of [store, phone])
    expect(device.getSnapshot().reading).toMatchObject({ readSeq: 5, keptUnread: false });
});

it("messages marked as unread stay so although a device comes back that was away meanwhile, and had read further", async () => {
  const laptop = await enterUpToDate();
  const [line] = world.lines;
  const phone = await world.enter("ada");
  laptop.look(false);
  world.isDown = true;
  line!.close();
  const marking = phone.markUnread(2);
  await world.pass(200_000);
  expect(await marking).toEqual({ ok: true });
  await world.up();
  await world.pass(60_000);
  for (const device of [laptop, phone])
    expect(device.getSnapshot()).toMatchObject({
      connection: { state: "connected" },
      reading: { readSeq: 1, unreadAfter: 1, keptUnread: true },
    });
  void phone.showNewest();
  phone.markRead();
  await world.pass(3000);
  for (const device of [laptop, phone])
    expect(device.getSnapshot().reading).toMatchObject({ readSeq: 3, keptUnread: false });
});

it("messages that were seen a moment ago are marked as unread from that one on, also where the room does not know yet that they were", async () => {
  const store = await enterUpToDate();
  await world.post("ben", 3);
  await world.pass(100);
  store.markRead();
  const marking = store.markUnread(6);
  await world.pass(3000);
  expect(await marking).toEqual({ ok: true });
  expect((await world.enter("ada")).getSnapshot().reading.readSeq).toBe(5);
});

it("messages that are marked as unread while the room does not answer are marked nowhere", async () => {
  const store = await enterUpToDate();
  await world.down();
  const marking = store.markUnread(2);
  await world.pass(60_000);
  expect(await marking).toHaveProperty("error");
  expect(store.getSnapshot().reading).toMatchObject({ readSeq: 3, keptUnread: false });
});
