// Announcements and direct messages as a product uses them: a backend over HTTP, and stock clients in forty rooms.
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Socket } from "socket.io-client";
import { expect, inject, it, vi } from "vitest";

import type { ConnectOptions, Room } from "../../client/core/api.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { PROJECT_ROOT } from "./servers.ts";
import { ask, collect, join, next, open, tokenFor, VERSIONS, type Connect } from "./stock-clients.ts";

const url = inject("serverUrl");
const ROOMS = 40;
const WAIT = { interval: 50 };

async function request(
  method: string,
  address: string,
  token: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const response = await fetch(new URL(address, url), {
    method,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, ...((await response.json()) as object) };
}

async function joinWith(connect: Connect, room: string, user: string): Promise<Socket> {
  const socket = open(url, { path: `/rooms/${room}/socket.io`, auth: { token: await tokenFor(user) } }, connect);
  await next(socket, "welcome");
  return socket;
}

it("one call announces to forty rooms, another to users in them: ANN-1, ANN-6, ANN-7", async () => {
  const service = await tokenFor("backend", { role: "service" });
  const rooms = Array.from({ length: ROOMS }, (_, i) => `forty-${i}`);
  const sockets: Socket[] = [];
  for (const [i, room] of rooms.entries()) {
    const [, connect] = VERSIONS[i % VERSIONS.length]!;
    sockets.push(await joinWith(connect, room, `follower-${i}`));
  }
  const heard = sockets.map((socket) => collect<unknown>(socket, "announcement"));
  const news = sockets.map((socket) => collect<unknown>(socket, "news"));

  // By then the lobby knows the rooms that are addressed by prefix (LOB-2).
  await vi.waitFor(
    async () =>
      expect((await request("GET", "/api/rooms?prefix=forty-&limit=100", service))["rooms"]).toHaveLength(ROOMS),
    WAIT,
  );
  const addresses = [{ rooms }, { prefix: "forty-" }, { users: rooms.map((_, i) => `follower-${i}`) }];
  for (const [i, address] of addresses.entries()) {
    const { status, id, accepted } = await request("POST", "/api/announce", service, { ...address, data: { i } });
    expect({ status, accepted }).toEqual({ status: 202, accepted: ROOMS });
    await vi.waitFor(() => {
      for (const own of heard) expect(own[i]).toEqual({ id, data: { i } });
    }, WAIT);
    const all = { done: true, accepted: ROOMS, delivered: ROOMS, absent: 0, failed: 0 };
    await vi.waitFor(
      async () => expect(await request("GET", `/api/announce/${id as string}`, service)).toMatchObject(all),
      WAIT,
    );
  }
  await request("POST", "/api/announce", service, { rooms, event: "news", data: ["one argument"] });
  await vi.waitFor(() => {
    for (const own of news) expect(own).toEqual([["one argument"]]);
  }, WAIT);
  for (const own of heard) expect(own).toHaveLength(addresses.length);
});

it("two users have a conversation, one with the client module and one with a stock client: DM-1, DM-2", async () => {
  const file = pathToFileURL(path.join(PROJECT_ROOT, "dist", "client", "client.js")).href;
  const { connectDirect } = (await import(file)) as {
    readonly connectDirect: (origin: string, user: string, options: ConnectOptions) => Promise<Room>;
  };
  const conversation = await connectDirect(url, "ben-outside", { token: () => tokenFor("ada-outside") });
  try {
    const general = await join(url, "general-outside", "ben-outside");
    const opened = await ask<{ room: string }>(general, "open-dm", { user: "ada-outside" });
    expect(opened).toEqual({ ok: true, room: conversation.room, isNew: false });
    const ben = await join(url, opened.room, "ben-outside");
    const said = collect<Message>(ben, "chat-message");
    await conversation.send("Hello Ben");
    await vi.waitFor(() => expect(said).toMatchObject([{ sender: "ada-outside", content: "Hello Ben" }]), WAIT);
    const token = await tokenFor("ben-outside");
    const listed = [{ room: conversation.room, user: "ada-outside", lastSeq: 1, unread: 1 }];
    await vi.waitFor(async () => expect(await request("GET", "/api/dms", token)).toMatchObject({ dms: listed }), WAIT);
  } finally {
    conversation.close();
  }
  const refused = connectDirect(url, "ada-outside", { token: await tokenFor("ada-outside") });
  await expect(refused).rejects.toMatchObject({ code: "INVALID_PAYLOAD" });
  await expect(connectDirect(url, "ada", { token: "no token" })).rejects.toMatchObject({ code: "UNAUTHORIZED" });
});
