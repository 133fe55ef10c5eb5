// The built client as applications get it: its size, and its behaviour in Node against a real server.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";

import type { Socket } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";

import type { Connection, ConnectOptions, Gap, MessageState, Room } from "../../client/core/api.ts";
import { measureClient, measureFirstLoad } from "../../scripts/build-client.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { BUILT, builtClient } from "./built-client.ts";
import { startServer, type TestServer } from "./servers.ts";
import { Line } from "./line.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";

const SIZE_MAX_BYTES = 40_000;
const FIRST_LOAD_MAX_BYTES = 100_000;
const EMOJI_MAX_BYTES = 40_000;
const PART_MAX_BYTES = 20_000;
const WAIT = { interval: 20 };

let client: Awaited<ReturnType<typeof builtClient>>;
beforeAll(async () => void (client = await builtClient()));

const rooms = new Set<Room>();
afterAll(() => {
  for (const room of rooms) room.close();
});

/** A member with everything that the client tells about a room. */
interface Member {
  readonly room: Room;
  readonly heard: Message[];
  readonly states: MessageState[];
  readonly connections: Connection[];
  readonly gaps: Gap[];
}

function enter(origin: string, name: string, options: Partial<ConnectOptions> = {}): Member {
  const room = client.connectRoom(origin, name, { token: () => tokenFor("ada"), ...options });
  rooms.add(room);
  const member: Member = { room, heard: [], states: [], connections: [], gaps: [] };
  room.on("chat-message", (message) => member.heard.push(message));
  room.on("message-state", (state) => member.states.push(state));
  room.on("connection", (connection) => member.connections.push(connection));
  room.on("gap", (gap) => member.gaps.push(gap));
  return member;
}

const until = (room: Room, state: Connection["state"]): Promise<void> =>
  vi.waitFor(() => expect(room.connection.state).toBe(state), WAIT);
const contents = (messages: readonly Message[]): string[] => messages.map(({ content }) => content);
/** The socket is a stock one, although the module's own types declare little of it. */
const transportOf = (room: Room): { name: string; query: Record<string, string> } =>
  (room.socket as unknown as Socket).io.engine.transport;

describe("dist/client", () => {
  it(`client.js is at most ${SIZE_MAX_BYTES} bytes, compressed, with socket.io-client inside`, async () => {
    const { whole, own } = await measureClient();
    expect(whole).toBeLessThan(SIZE_MAX_BYTES);
    expect(own).toBeLessThan(whole / 2);
  });

  it(`a first visit of the chat page loads less than ${FIRST_LOAD_MAX_BYTES} bytes, compressed`, async () => {
    expect(await measureFirstLoad()).toBeLessThan(FIRST_LOAD_MAX_BYTES);
  });

  it(`the emoji are at most ${EMOJI_MAX_BYTES} bytes, compressed, and other parts on demand ${PART_MAX_BYTES}`, async () => {
    const pages = await Promise.all(
      ["index.html", "admin.html"].map((page) => readFile(path.join(BUILT, page), "utf8")),
    );
    const names = await readdir(path.join(BUILT, "assets"));
    const parts = names.filter((name) => name.endsWith(".js") && !pages.some((page) => page.includes(name)));
    expect(parts.map((name) => name.replace(/-\w{8}\.js$/, "")).toSorted()).toEqual(
      expect.arrayContaining(["emoji-data", "emoji-picker", "mention-list"]),
    );
    for (const part of parts) {
      const { length } = gzipSync(await readFile(path.join(BUILT, "assets", part)));
      expect(length, part).toBeLessThan(part.startsWith("emoji-data") ? EMOJI_MAX_BYTES : PART_MAX_BYTES);
    }
  });
});

describe("in Node", () => {
  const url = inject("serverUrl");

  it("sends, receives, reads history and presence over a WebSocket with extensions", async () => {
    const { room, heard, states } = enter(url, "node");
    const answer = await room.send("hello");
    expect(answer).toMatchObject({ ok: true, seq: 1 });
    await room.send("and again", { replyTo: answer.id });
    expect(heard).toMatchObject([{ content: "hello" }, { content: "and again", replyTo: answer.id }]);
    expect(states.map(({ state }) => state)).toEqual(["pending", "sent", "pending", "sent"]);
    expect(await room.history()).toMatchObject({ ok: true, messages: heard });
    expect(await room.search("again")).toMatchObject({ ok: true, messages: [{ seq: 2, matches: [[4, 9]] }] });
    expect(await room.search({ from: "nobody" })).toMatchObject({ ok: true, messages: [] });
    expect(await room.search("?")).toMatchObject({ error: { code: "INVALID_PAYLOAD" } });
    expect(await room.presence()).toMatchObject({ ok: true, count: 1 });
  });

  it("after a broken connection the messages of both sides arrive once and in order", async () => {
    const line = await new Line(Number(new URL(url).port)).open();
    const { room, heard, gaps } = enter(line.url, "line");
    await room.send("before");
    const ben = await join(url, "line", "ben");
    line.cut();
    await until(room, "waiting");
    for (const content of ["missed 1", "missed 2"]) await ask(ben, "chat-message", { content });
    const sent = ["mine 1", "mine 2"].map((content) => room.send(content));
    line.mend();
    expect(await Promise.all(sent)).toMatchObject([{ seq: 4 }, { seq: 5 }]);
    expect(contents(heard)).toEqual(["before", "missed 1", "missed 2", "mine 1", "mine 2"]);
    expect(gaps).toEqual([]);
    ben.disconnect();
  });

  it("calls the token function for each attempt, passes it the refusal, and survives its errors", async () => {
    const asked: unknown[] = [];
    const { room, connections } = enter(url, "tokens", {
      token: async (refused) => {
        asked.push(refused);
        if (asked.length === 1) throw new Error("the identity server is away");
        return asked.length === 2 ? "no token at all" : tokenFor("ada");
      },
    });
    await room.send("in");
    expect(asked).toEqual([undefined, undefined, "UNAUTHORIZED"]);
    expect(connections.map(({ state }) => state)).toEqual([
      "waiting",
      "connecting",
      "waiting",
      "connecting",
      "connected",
    ]);
    expect(connections[2]).toMatchObject({ code: "UNAUTHORIZED" });
  });

  it("keeps unsent messages in the given storage", async () => {
    const items = new Map<string, string>();
    const storage = {
      get length() {
        return items.size;
      },
      key: (index: number) => [...items.keys()][index] ?? null,
      getItem: (key: string) => items.get(key) ?? null,
      setItem: (key: string, value: string) => void items.set(key, value),
      removeItem: (key: string) => void items.delete(key),
    };
    const line = await new Line(Number(new URL(url).port)).open();
    line.cut();
    const { room } = enter(line.url, "kept", { storage });
    const sending = room.send("later");
    room.close();
    await expect(sending).rejects.toMatchObject({ code: "CLOSED" });
    expect(items.size).toBe(1);
    line.mend();
    const { room: again, heard } = enter(line.url, "kept", { storage });
    await vi.waitFor(() => expect(contents(heard)).toEqual(["later"]), WAIT);
    await vi.waitFor(() => expect(again.unsent).toEqual([]), WAIT);
    expect(items.size).toBe(0);
  });

  it("throws at once for bad arguments", () => {
    const connect =
      (room: string, options: Partial<ConnectOptions> = {}) =>
      () =>
        enter(url, room, options);
    expect(connect("no spaces")).toThrow(/Not a room name/);
    expect(connect("fine", { queueLimit: -1 })).toThrow(/queueLimit/);
  });
});

describe("where WebSockets are blocked", () => {
  it("falls back to long-polling at once, and returns to WebSockets when they work again", async () => {
    const line = await new Line(Number(new URL(inject("serverUrl")).port)).open();
    line.blocksWebSockets = true;
    const { room, heard, connections } = enter(line.url, "blocked");
    await room.send("over polling");
    expect(transportOf(room).name).toBe("polling");
    expect(connections[0]).toMatchObject({ state: "waiting", retryInMs: 0 });
    line.cut();
    await until(room, "waiting");
    line.blocksWebSockets = false;
    line.mend();
    await until(room, "connected");
    await vi.waitFor(() => expect(transportOf(room)).toMatchObject({ name: "websocket", query: { ext: "1" } }), WAIT);
    await room.send("over a WebSocket");
    expect(contents(heard)).toEqual(["over polling", "over a WebSocket"]);
  });
});

describe.concurrent("against a server that wants the token at the upgrade", () => {
  const [PING_INTERVAL_MS, PING_TIMEOUT_MS] = [500, 6000];
  let server: TestServer;
  beforeAll(async () => {
    // It ends connections quickly.
    const quick = { PING_INTERVAL_MS: String(PING_INTERVAL_MS), PING_TIMEOUT_MS: String(PING_TIMEOUT_MS) };
    server = await startServer({ settings: { AUTH_AT: "upgrade", ...quick } });
  });
  afterAll(() => server.stop());

  it.each(["websocket", "polling"])("is let in by %s where it shows the token there", async (transport) => {
    const line = await new Line(server.port).open();
    line.blocksWebSockets = transport === "polling";
    const name = `doorkeeper-${transport}`;
    const { room, heard } = enter(line.url, name, { authAt: "upgrade" });
    await room.send("let in");
    expect(contents(heard)).toEqual(["let in"]);
    expect(transportOf(room).name).toBe(transport);
    const stranger = enter(line.url, name);
    await until(stranger.room, "waiting");
    for (const entered of [room, stranger.room]) entered.close();
  });

  it("EXT-3: an idle member sends heartbeats and stays, and Engine.IO's own watchdog does not fire", async () => {
    const { room, connections } = enter(server.url, "beats", { authAt: "upgrade" });
    const received: string[] = [];
    await until(room, "connected");
    (room.socket as unknown as Socket).io.engine.on("packet", ({ type }: { type: string }) => received.push(type));
    // Long enough to have died of the first missing answer, or of a watchdog that sees no ping.
    await pause(2 * (PING_INTERVAL_MS + PING_TIMEOUT_MS));
    await vi.waitFor(() => expect(received.filter((type) => type === "ping").length).toBeGreaterThan(10), WAIT);
    expect(connections.map(({ state }) => state)).toEqual(["connected"]);
    room.close();
  });
});
