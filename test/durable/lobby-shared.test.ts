// Four lobbies that share the rooms are one list to clients: LOB-5
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";

import type { RoomQuery } from "../../src/protocol/room-list.ts";
import { lobbyNames } from "../../src/protocol/room-list.ts";
import { callApi } from "./api-caller.ts";
import { join, useSettings } from "./rooms.ts";

useSettings({ LOBBIES: "4" });

it("the list is the same, page by page, and a drain reaches all", async () => {
  const rooms = Array.from({ length: 24 }, (_, i) => `room-${String(i).padStart(2, "0")}`);
  await Promise.all(rooms.map((room) => join(room, "ada")));
  await vi.waitFor(async () => expect((await callApi("GET", "/api/rooms")).body.rooms).toHaveLength(24));

  const query: RoomQuery = { sort: "name", limit: 100 };
  const pages = await Promise.all(lobbyNames(4).map((name) => env.LOBBY.getByName(name).list(query)));
  for (const page of pages) expect(page.rooms.length).toBeGreaterThan(0);

  const listed: string[] = [];
  let next: string | undefined = "/api/rooms?sort=name&limit=5";
  while (next !== undefined) {
    const { body, headers } = await callApi("GET", next);
    listed.push(...(body.rooms as Array<{ room: string }>).map(({ room }) => room));
    next = /^<(.+)>; rel="next"$/.exec(headers.get("Link") ?? "")?.[1];
  }
  expect(listed).toEqual(rooms);

  const { body } = await callApi("POST", "/api/drain", { body: { reconnectWithinMs: 0 } });
  expect(body).toEqual({ ok: true, rooms: rooms.map((room) => ({ room, connections: 1 })) });
});
