// A chat as it was written for a plain Socket.IO server, unchanged, against this one.
import type { Socket } from "socket.io-client";
import { describe, expect, inject, it, vi } from "vitest";

import type { Message, PresenceChange } from "../../src/protocol/chat-events.ts";
import { ask, collect, next, open, tokenFor, VERSIONS, type Connect, type Options } from "./stock-clients.ts";

const url = inject("serverUrl");
let rooms = 0;
const freshRoom = (): string => `legacy-${++rooms}`;

async function enterWith(connect: Connect, user: string, options: Options = {}): Promise<Socket> {
  const socket = open(url, { auth: { token: await tokenFor(user) }, ...options }, connect);
  await next(socket, "connect");
  return socket;
}

const legacyPost = (userId: string, content: string): object => ({ content, userId, timestamp: Date.now() });

// Each is alone there: `global` is one room, whichever version comes.
it.each(VERSIONS)(
  "socket.io-client %s: two clients without a room meet in `global`, with and without acks",
  async (version, connect) => {
    const [ada, ben] = [await enterWith(connect, `ada-${version}`), await enterWith(connect, `ben-${version}`)];
    const [atAda, atBen] = [collect<Message>(ada, "chat-message"), collect<Message>(ben, "chat-message")];
    const answer = await ask(ada, "chat-message", legacyPost("ada", "with an ack"));
    expect(answer).toMatchObject({ ok: true, id: expect.any(String), seq: expect.any(Number) });
    ben.emit("chat-message", legacyPost("ben", "without one"));
    await vi.waitFor(() => expect([atAda.length, atBen.length]).toEqual([2, 2]));
    expect(atBen).toEqual(atAda);
    expect(atAda[0]).toEqual({
      id: answer["id"],
      seq: answer["seq"],
      room: "global",
      // From the token, not from the payload.
      sender: `ada-${version}`,
      name: `ada-${version}`,
      content: "with an ack",
      timestamp: expect.any(Number),
    });
    expect(atAda[1]).toMatchObject({ content: "without one", seq: (answer["seq"] as number) + 1 });
  },
);

describe.concurrent.each(VERSIONS)("socket.io-client %s", (_version, connect) => {
  const enter = (user: string, options: Options = {}): Promise<Socket> => enterWith(connect, user, options);

  it("a room named in the query", async () => {
    const room = freshRoom();
    const socket = open(url, { auth: { token: await tokenFor("ada") }, query: { room } }, connect);
    expect(await next(socket, "welcome")).toMatchObject({ room, user: "ada", lastSeq: 0, presence: { count: 1 } });
  });

  it("presence: joins and leaves", async () => {
    const path = `/rooms/${freshRoom()}/socket.io`;
    const ada = await enter("ada", { path });
    const changes = collect<PresenceChange>(ada, "presence");
    const ben = await enter("ben", { path });
    await vi.waitFor(() =>
      expect(changes.flatMap(({ joined }) => joined)).toContainEqual({ user: "ben", name: "ben" }),
    );
    expect(await ask(ada, "presence", {})).toMatchObject({ ok: true, count: 2 });
    ben.disconnect();
    await vi.waitFor(() => expect(changes.at(-1)).toEqual({ count: 1, joined: [], left: [{ user: "ben" }] }));
  });

  it("a wrong token is a connect_error with data.code, and the client stays away", async () => {
    const socket = open(url, { auth: { token: "wrong" } }, connect);
    const error = await next<Error & { data?: unknown }>(socket, "connect_error");
    expect(error.message).not.toBe("");
    expect(error.data).toEqual({ code: "UNAUTHORIZED" });
    expect(socket.active).toBe(false);
  });

  it("over the rate limit: event `error` without an ack, an error answer with one, and no disconnect", async () => {
    const ada = await enter("ada", { path: `/rooms/${freshRoom()}/socket.io` });
    const disconnects = collect(ada, "disconnect");
    const errors = collect<{ code: string; message: string; retryAfterMs: number }>(ada, "error");
    for (let i = 0; i < 40; i++) ada.emit("chat-message", legacyPost("ada", `burst ${i}`));
    await vi.waitFor(() => expect(errors.length).toBeGreaterThanOrEqual(3));
    const [first] = errors;
    expect(first).toMatchObject({ code: "RATE_LIMITED", message: expect.stringMatching(/^Rate limit exceeded/) });
    expect(first!.retryAfterMs).toBeGreaterThan(0);
    const answer = await ask(ada, "chat-message", legacyPost("ada", ""));
    expect(answer["error"]).toBeDefined();
    expect(disconnects).toEqual([]);
  });

  it("`disconnect` fires when the client leaves, and it may connect again", async () => {
    const ada = await enter("ada", { path: `/rooms/${freshRoom()}/socket.io` });
    await ask(ada, "chat-message", legacyPost("ada", "before"));
    const reason = next(ada, "disconnect");
    ada.disconnect();
    expect(await reason).toBe("io client disconnect");
    ada.connect();
    expect(await next(ada, "welcome")).toMatchObject({ lastSeq: 1 });
    expect(await ask(ada, "history", {})).toMatchObject({ messages: [{ content: "before" }] });
  });

  it("a connection that breaks without a close frame: the others receive the member's leave", async () => {
    const path = `/rooms/${freshRoom()}/socket.io`;
    const ada = await enter("ada", { path });
    const changes = collect<PresenceChange>(ada, "presence");
    const ben = await enter("ben", { path, reconnection: false });
    await vi.waitFor(() =>
      expect(changes.flatMap(({ joined }) => joined)).toContainEqual({ user: "ben", name: "ben" }),
    );
    // As when a machine loses power: neither a Socket.IO disconnect nor a WebSocket close frame.
    const { ws } = ben.io.engine.transport as unknown as { ws: { terminate(): void } };
    ws.terminate();
    await vi.waitFor(() => expect(changes.flatMap(({ left }) => left)).toEqual([{ user: "ben" }]));
  });

  it("the client reconnects by itself after a lost connection", async () => {
    const ada = await enter("ada", { path: `/rooms/${freshRoom()}/socket.io`, reconnectionDelay: 50 });
    const reason = next(ada, "disconnect");
    ada.io.engine.close();
    await reason;
    await next(ada, "welcome");
    expect(await ask(ada, "chat-message", legacyPost("ada", "back"))).toMatchObject({ ok: true });
  });
});

it("clients of both versions meet in one room", async () => {
  const path = `/rooms/${freshRoom()}/socket.io`;
  const connectAs = async (user: string, connect: Connect): Promise<Socket> => {
    const socket = open(url, { path, auth: { token: await tokenFor(user) } }, connect);
    await next(socket, "connect");
    return socket;
  };
  const [[, newest], [, old]] = VERSIONS as [(typeof VERSIONS)[0], (typeof VERSIONS)[0]];
  const ada = await connectAs("ada", newest);
  const ben = await connectAs("ben", old);
  const message = next(ada, "chat-message");
  ben.emit("chat-message", { content: "from 4.4" });
  expect(await message).toMatchObject({ sender: "ben", content: "from 4.4", seq: 1 });
});
