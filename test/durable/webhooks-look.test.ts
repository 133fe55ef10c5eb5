// Looking at a room stores nothing, with a webhook as well (API-13).
import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";

import { callApi, request } from "./api-caller.ts";
import { freshRoom, stubOf, useSettings } from "./rooms.ts";

useSettings({ WEBHOOK_URL: "https://hooks.example.com/", WEBHOOK_SECRET: "only-we-two-know" });

const tablesOf = (room: string): Promise<unknown[]> =>
  runInDurableObject(stubOf(room), (_room, { storage }) =>
    storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray(),
  );

it("a look by a caller without the right stores nothing", async () => {
  const room = freshRoom();
  const response = await request("GET", `/api/rooms/${room}`, { as: { role: "member" } });
  expect(response.status).toBe(403);
  await response.bytes();
  expect(await tablesOf(room)).toEqual([]);
});

it("a look at a deleted room stores nothing", async () => {
  const room = freshRoom();
  await callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "hello" } });
  await callApi("DELETE", `/api/rooms/${room}`);
  expect(await tablesOf(room)).toEqual([]);
});
