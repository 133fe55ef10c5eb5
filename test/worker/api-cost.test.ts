// Rows that calls write in a room: API-13.
import { runInDurableObject } from "cloudflare:test";
import { expect, it, vi } from "vitest";

import { callApi, request } from "../durable/api-caller.ts";
import { alarmOf, freshRoom, isAtRest, join, LONG_WINDOW, Sleeper, stubOf, withSettings } from "../durable/rooms.ts";
import { rowsWritten } from "../durable/rows-written.ts";

/** A room with a message, that has settled. */
async function usedRoom(): Promise<string> {
  const room = freshRoom();
  await callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "first" } });
  // The one alarm that a room with messages has: for the day on which it forgets them.
  await isAtRest(room);
  return room;
}

it("reading costs nothing, neither a row nor an alarm, and nothing after a sleep either: API-13", async () => {
  const room = await usedRoom();
  const readAll = async (): Promise<void> => {
    for (const path of ["", "/messages", "/messages?after=0", "/members", "/export", "/moderation", "/audit"]) {
      const response = await request("GET", `/api/rooms/${room}${path}`);
      expect(response.status).toBe(200);
      await response.bytes();
    }
  };
  expect(await rowsWritten(room, readAll)).toEqual({ rows: 0, alarms: 0 });
  const sleeper = new Sleeper(room);
  expect(
    await rowsWritten(room, async () => {
      await sleeper.sleep();
      await readAll();
    }),
  ).toEqual({ rows: 0, alarms: 0 });
});

it("reading an unused room creates nothing: API-13", async () => {
  const room = freshRoom();
  for (const role of ["service", "moderator", "member"]) {
    for (const path of [
      "",
      "/messages",
      "/messages/x-1",
      "/messages/x-1/versions",
      "/members",
      "/moderation",
      "/audit",
      "/export",
    ]) {
      await (await request("GET", `/api/rooms/${room}${path}`, { as: { role } })).bytes();
    }
  }
  const tables = await runInDurableObject(stubOf(room), (_room, { storage }) =>
    storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray(),
  );
  expect(tables).toEqual([]);
});

it("a post costs a row; refused and repeated posts cost none", async () => {
  const room = await usedRoom();
  const post = (body: object) => callApi("POST", `/api/rooms/${room}/messages`, { body });
  expect(await rowsWritten(room, () => post({ content: "x", clientMsgId: "k" }))).toEqual({ rows: 1, alarms: 0 });
  expect(await rowsWritten(room, () => post({ content: "x", clientMsgId: "k" }))).toEqual({ rows: 0, alarms: 0 });
  expect(await rowsWritten(room, () => post({ content: "" }))).toEqual({ rows: 0, alarms: 0 });
  expect(await rowsWritten(room, () => post({ content: "x", replyTo: "?" }))).toEqual({ rows: 0, alarms: 0 });
});

it("posts that come together share a row", async () => {
  const room = await withSettings(LONG_WINDOW, usedRoom);
  const { rows } = await rowsWritten(room, () =>
    Promise.all(
      Array.from({ length: 9 }, () => callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "x" } })),
    ),
  );
  expect(rows).toBeLessThanOrEqual(3);
});

it("a drain costs no more than the disconnects: the alarm for retention", async () => {
  const room = await usedRoom();
  const ada = await join(room, "ada");
  // Otherwise the first time that she leaves is a row: the room notes that it is one of hers.
  expect(await ada.ask("read", { seq: 1 })).toMatchObject({ ok: true });
  // In its place, the one for her next ping.
  await vi.waitFor(async () => expect(await alarmOf(room)).toBeLessThan(Date.now() + 60_000));
  const drained = await rowsWritten(room, async () => {
    await callApi("POST", "/api/drain", { body: { rooms: [room], reconnectWithinMs: 1000 } });
    await ada.closes();
    await vi.waitFor(async () => expect(await alarmOf(room)).toBeGreaterThan(Date.now() + 60_000));
  });
  expect(drained).toEqual({ rows: 1, alarms: 1 });
});
