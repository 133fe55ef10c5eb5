// Tests a stock client with default transports: it polls first, then upgrades. EIO-8, EIO-9.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { io, type Socket } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";

import type { Message, Welcome } from "../../src/protocol/chat-events.ts";
import { HOST, PROJECT_ROOT } from "./servers.ts";
import { useBrowser } from "./stage.ts";
import { ask, collect, join, next, tokenFor } from "./stock-clients.ts";

/** Messages that each side sends while the transport changes. */
const MESSAGES = 200;
/** Between two of them; together they outlast the upgrade by far. */
const GAP_MS = 2;
const WAIT = { interval: 20 };

const browser = await useBrowser();
const url = inject("fastServerUrl");
let rooms = 0;
const freshRoom = (): string => `polling-${++rooms}`;
const opened: Socket[] = [];

afterAll(() => {
  for (const socket of opened) socket.disconnect();
});

/** `io()` as an application calls it; `transports` is set only where a test is about it. */
async function connect(
  room: string,
  user: string,
  options: { transports?: string[]; protocols?: string[] } = {},
): Promise<Socket> {
  const auth = { token: await tokenFor(user) };
  const socket = io(url, { path: `/rooms/${room}/socket.io`, auth, forceNew: true, ...options });
  opened.push(socket);
  return socket;
}

const transportOf = (socket: Socket): string | undefined => socket.io.engine?.transport.name;

/** @param meanwhile has to happen before the last message */
async function sendAll(socket: Socket, name: string, meanwhile?: Promise<unknown>): Promise<unknown[]> {
  const answers: Array<Promise<unknown>> = [];
  for (let number = 0; number < MESSAGES; number++) {
    if (number === MESSAGES - 1) await meanwhile;
    answers.push(ask(socket, "chat-message", { content: `${name} ${number}` }));
    await pause(GAP_MS);
  }
  return Promise.all(answers);
}

const from = (messages: readonly Message[], sender: string): string[] =>
  messages.filter((message) => message.sender === sender).map(({ content }) => content);
const sequence = (name: string): string[] => Array.from({ length: MESSAGES }, (_, number) => `${name} ${number}`);

describe("a client with default transports", () => {
  it("that offers its own subprotocols upgrades, and connects without polling: EIO-11", async () => {
    const [ada, ben] = [
      await connect(freshRoom(), "ada", { protocols: ["chat", "v1"] }),
      await connect(freshRoom(), "ben", { protocols: ["chat", "v1"], transports: ["websocket"] }),
    ];
    await Promise.all([next(ada, "welcome"), next(ben, "welcome")]);
    await vi.waitFor(() => expect([ada, ben].map(transportOf)).toEqual(["websocket", "websocket"]), WAIT);
    expect(await ask(ada, "chat-message", { content: "upgraded" })).toMatchObject({ ok: true, seq: 1 });
  });

  it(`${MESSAGES} messages each way during the upgrade: none lost, doubled or reordered`, async () => {
    const room = freshRoom();
    const ben = await join(url, room, "ben");
    const heardByBen = collect<Message>(ben, "chat-message");
    const benSends = sendAll(ben, "ben");
    await vi.waitFor(() => expect(heardByBen.length).toBeGreaterThan(0), WAIT);
    const ada = await connect(room, "ada");
    const heardByAda = collect<Message>(ada, "chat-message");
    let saidAtUpgrade = 0;
    const upgraded = new Promise<void>((resolve) => {
      ada.io.on("open", () =>
        ada.io.engine.on("upgrade", () => {
          saidAtUpgrade = heardByBen.length;
          resolve();
        }),
      );
    });
    const welcomed = next<Welcome>(ada, "welcome");
    const answers = await Promise.all([sendAll(ada, "ada", upgraded), benSends]);
    const { lastSeq } = await welcomed;
    await vi.waitFor(() => expect(heardByBen).toHaveLength(2 * MESSAGES), WAIT);
    await vi.waitFor(() => expect(heardByAda.length).toBeGreaterThanOrEqual(2 * MESSAGES - lastSeq), WAIT);
    expect(from(heardByBen, "ada")).toEqual(sequence("ada"));
    expect(from(heardByBen, "ben")).toEqual(sequence("ben"));
    expect(heardByBen.map(({ seq }) => seq)).toEqual(Array.from({ length: 2 * MESSAGES }, (_, i) => i + 1));
    // She connected while he was posting: she gets all messages since her welcome.
    expect(heardByAda).toEqual(heardByBen.slice(lastSeq));
    expect(answers.flat().every((answer) => (answer as { ok: boolean }).ok)).toBe(true);
    expect(transportOf(ada)).toBe("websocket");
    expect(saidAtUpgrade, "messages before the upgrade").toBeGreaterThan(0);
    expect(saidAtUpgrade, "messages before the upgrade").toBeLessThan(2 * MESSAGES);
  });
});

it("a client that only polls posts and receives, and its end is noticed", async () => {
  const room = freshRoom();
  const ben = await join(url, room, "ben");
  const heardByBen = collect<Message>(ben, "chat-message");
  const presence = collect<{ left: Array<{ user: string }> }>(ben, "presence");
  const ada = await connect(room, "ada", { transports: ["polling"] });
  const heardByAda = collect<Message>(ada, "chat-message");
  await next(ada, "welcome");
  await Promise.all([sendAll(ada, "ada"), sendAll(ben, "ben")]);
  await vi.waitFor(() => expect(heardByAda).toHaveLength(2 * MESSAGES), WAIT);
  await vi.waitFor(() => expect(heardByBen).toHaveLength(2 * MESSAGES), WAIT);
  expect(heardByAda.map(({ id }) => id)).toEqual(heardByBen.map(({ id }) => id));
  expect(from(heardByAda, "ben")).toEqual(sequence("ben"));
  expect(transportOf(ada)).toBe("polling");
  ada.disconnect();
  await vi.waitFor(() => expect(presence.flatMap(({ left }) => left)).toEqual([{ user: "ada" }]), WAIT);
});

it("members who are banned while they connect and upgrade get the reason and stay away", async () => {
  const room = freshRoom();
  const moderator = await join(url, room, "mia", { auth: { token: await tokenFor("mia", { role: "moderator" }) } });
  const users = Array.from({ length: 12 }, (_, at) => `guest ${at}`);
  const ends = await Promise.all(
    users.map(async (user, at) => {
      const socket = await connect(room, user);
      const seen: string[] = [];
      socket.on("notice", ({ code }: { code: string }) => seen.push(code));
      socket.on("connect_error", ({ message }) => seen.push(message));
      socket.on("disconnect", (reason) => seen.push(reason));
      await next(socket, "welcome");
      // At different steps of the upgrade.
      await pause(at * 5);
      await ask(moderator, "ban", { user });
      await vi.waitFor(() => expect(socket.connected).toBe(false), WAIT);
      return [...seen, socket.active];
    }),
  );
  expect(ends).toEqual(users.map(() => ["BANNED", "io server disconnect", false]));
});

describe("a page of another origin, in Chromium", () => {
  let site: Server;
  beforeAll(async () => {
    site = createServer((_request, response) =>
      response.setHeader("Content-Type", "text/html").end("<title>x</title>"),
    );
    await new Promise<void>((resolve) => {
      site.listen(0, HOST, resolve);
    });
  });
  afterAll(() => void site.close());

  it("polls and upgrades, or polls only, with credentials", async () => {
    const page = await browser.newPage();
    await page.goto(`http://${HOST}:${(site.address() as AddressInfo).port}/`);
    await page.addScriptTag({
      path: path.join(PROJECT_ROOT, "node_modules", "socket.io-client", "dist", "socket.io.min.js"),
    });
    for (const [options, expected] of [
      [{}, ["polling", "websocket"]],
      [{ transports: ["polling"], withCredentials: true }, ["polling"]],
    ] as const) {
      const visit = { url, room: freshRoom(), token: await tokenFor("ada"), options };
      const [transports, answer] = await page.evaluate(chatInPage, visit);
      expect(transports).toEqual(expected);
      expect(answer).toMatchObject({ ok: true, seq: 1 });
    }
  });
});

interface Visit {
  readonly url: string;
  readonly room: string;
  readonly token: string;
  readonly options: object;
}

/** Runs in the page. @returns the transports in their order, and the answer to a message over the last one */
async function chatInPage({ url, room, token, options }: Visit): Promise<[string[], unknown]> {
  const connectTo = (globalThis as unknown as { io: typeof io }).io;
  const socket = connectTo(url, { path: `/rooms/${room}/socket.io`, auth: { token }, ...options });
  const transports: string[] = [];
  const upgraded = new Promise<void>((resolve) => {
    socket.io.on("open", () => {
      const { engine } = socket.io;
      transports.push(engine.transport.name);
      engine.on("upgrade", ({ name }: { name: string }) => {
        transports.push(name);
        resolve();
      });
    });
    if ("transports" in options) resolve();
  });
  await new Promise((resolve) => {
    socket.once("welcome", resolve);
  });
  await upgraded;
  return [transports, await socket.timeout(120_000).emitWithAck("chat-message", { content: "from a page" })];
}
