// Rows that calls write in a room: API-13.
import { runInDurableObject } from "cloudflare:test";
import { expect, it, vi } from "vitest";

import { callApi, request } from "../durable/api-caller.ts";
import { alarmOf, freshRoom, isAtRest, join, Sleeper, stubOf, withSettings } from "../durable/rooms.ts";
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

const WEBHOOK = { WEBHOOK_URL: "https://hooks.example.com/", WEBHOOK_SECRET: "only-we-two-know" };

it.each([
  ["", ["service", "moderator", "member"], {}],
  [" with a webhook", ["service"], WEBHOOK],
])("API-13: reading an unused room, or one that was deleted, creates nothing%s", (_how, roles, settings) =>
  withSettings(settings, async () => {
    const [unused, deleted] = [freshRoom(), freshRoom()];
    await callApi("POST", `/api/rooms/${deleted}/messages`, { body: { content: "hello" } });
    await callApi("DELETE", `/api/rooms/${deleted}`);
    for (const room of [unused, deleted]) {
      for (const role of roles) {
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
      expect(tables, room).toEqual([]);
    }
  }),
);

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
