// The HTTP API and stock clients in one room: each sees the effects of the other.
import { describe, expect, inject, it, vi } from "vitest";

import type { Message, Notice } from "../../src/protocol/chat-events.ts";
import { ask, collect, join, next, tokenFor, VERSIONS, open } from "./stock-clients.ts";

const url = inject("serverUrl");

async function request(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${await tokenFor("backend", { role: "service" })}`,
      ...(body && { "Content-Type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(response.ok).toBe(true);
  return (await response.json()) as Record<string, unknown>;
}

describe.each(VERSIONS)("socket.io-client %s", (version, connect) => {
  const roomFor = (what: string): string => `http-${what}-${version}`;
  const enter = async (room: string, user: string) => {
    const options = { path: `/rooms/${room}/socket.io`, auth: { token: await tokenFor(user) } };
    const socket = open(url, { ...options, reconnectionDelay: 50, reconnectionDelayMax: 200 }, connect);
    await next(socket, "welcome");
    return socket;
  };

  it("reconnects after a drain, and misses nothing: API-10", async () => {
    const room = roomFor("drain");
    const ada = await enter(room, "ada");
    const messages = collect<Message>(ada, "chat-message");
    const [gone, notice] = [next(ada, "disconnect"), next<Notice>(ada, "notice")];
    await request("POST", `/api/rooms/${room}/messages`, { content: "before" });
    await request("POST", "/api/drain", { rooms: [room], reconnectWithinMs: 1000 });
    await request("POST", `/api/rooms/${room}/messages`, { content: "meanwhile" });
    expect(await notice).toMatchObject({ code: "SERVER_SHUTDOWN", retryAfterMs: expect.any(Number) });
    expect(await gone).toBe("transport close");
    await vi.waitFor(() => expect(ada.connected).toBe(true));
    await request("POST", `/api/rooms/${room}/messages`, { content: "after" });
    await vi.waitFor(() => expect(messages.at(-1)?.content).toBe("after"));
    // Those that know recovery have it all; 4.4 may have been late, and would ask `history`.
    const contents = messages.map(({ content }) => content);
    expect(version === "4.4" ? contents.filter((content) => content !== "meanwhile") : contents).toEqual(
      version === "4.4" ? ["before", "after"] : ["before", "meanwhile", "after"],
    );
  });

  it("does not reconnect to a deleted room, which is empty for the next client: API-9", async () => {
    const room = roomFor("delete");
    const ada = await enter(room, "ada");
    await ask(ada, "chat-message", { content: "gone soon" });
    const [gone, notice] = [next(ada, "disconnect"), next<Notice>(ada, "notice")];
    await request("DELETE", `/api/rooms/${room}`);
    expect(await notice).toMatchObject({ code: "ROOM_DELETED" });
    expect(await gone).toBe("io server disconnect");
    const ben = await join(url, room, "ben");
    expect(await ask(ben, "history", {})).toMatchObject({ messages: [] });
    expect(await ask(ben, "presence", {})).toMatchObject({ count: 1 });
    expect(ada.active).toBe(false);
  });
});
