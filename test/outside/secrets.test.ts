// Reads all outputs of the server, and looks for secrets of single clients: Engine.IO session ids, the `pid`s of recovery,
// and tokens. Only the handshake may contain them (EIO-12).
import { createServer, type Server } from "node:http";
import type { Socket } from "socket.io-client";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

import { CHAT_EVENTS } from "../../src/protocol/chat-events.ts";
import { ACTIONS } from "../../src/protocol/events/moderation.ts";
import { PATIENCE_MS } from "../host/patience.ts";
import { freePort, HOST, startServer, type TestServer } from "./servers.ts";
import { next, open, tokenFor, type Options } from "./stock-clients.ts";

const ROOM = "vault";
/** The conversation of two users. */
const FRIENDS = ["member", "friend"] as const;
const WAIT = { interval: 50 };

/** Secrets, by owner and kind. */
const secrets = new Map<string, string>();
/** All outputs of the server, each with its place. */
const said: Array<readonly [where: string, text: string]> = [];
const tokens: Record<string, string> = {};
const sockets: Record<string, Socket> = {};
let server: TestServer;
let receiver: Server;

const say = (where: string, text: string): void => void said.push([where, text]);

beforeAll(async () => {
  const port = await freePort();
  receiver = createServer((request, response) => {
    say("webhook headers", JSON.stringify(request.headers));
    request.on("data", (chunk: Buffer) => say("webhook", chunk.toString()));
    request.on("end", () => response.end());
  }).listen(port, HOST);
  const hooks = { WEBHOOK_URL: `http://${HOST}:${port}/`, WEBHOOK_SECRET: "only-the-two-of-us-know-this-secret" };
  server = await startServer({ settings: { LOG_LEVEL: "debug", LOG_SAMPLING: "1", ...hooks } });
});

afterAll(async () => {
  await server.stop();
  receiver.close();
});

/** A stock client of which all is kept that it hears behind the handshakes. */
async function enter(user: string, token: string, options: Options = {}, nsp = ""): Promise<Socket> {
  const query = { recovery: "on" };
  const socket = open(`${server.url}${nsp}`, { path: `/rooms/${ROOM}/socket.io`, auth: { token }, query, ...options });
  const { io } = socket;
  io.once("open", () => {
    const { engine } = io;
    secrets.set(`${user}'s sid`, (engine as unknown as { id: string }).id);
    engine.on("packet", ({ type, data }) => {
      // `0` without a namespace's CONNECT answer is the Engine.IO handshake, which may contain the session id.
      if (type === "message" && !String(data).startsWith("0")) say(`an event for ${user}`, String(data));
    });
  });
  await next(socket, nsp === "" ? "welcome" : "watch");
  const { _pid } = socket as unknown as { _pid?: string };
  if (_pid !== undefined) secrets.set(`${user}'s pid`, _pid);
  return socket;
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function request(user: string, method: string, address: string, body?: unknown): Promise<Answer> {
  const headers: Record<string, string> = { Authorization: `Bearer ${tokens[user]}` };
  if (body instanceof Blob) headers["Content-Type"] = body.type;
  else if (body !== undefined) headers["Content-Type"] = "application/json";
  const sent = body instanceof Blob ? body : JSON.stringify(body);
  const response = await fetch(new URL(address, server.url), {
    method,
    headers,
    redirect: "manual",
    ...(body !== undefined && { body: sent }),
  });
  const text = await response.text();
  const where = `${method} ${address.split("?")[0]} as ${user}`;
  say(`the headers of ${where}`, JSON.stringify([...response.headers]));
  say(where, text);
  return { status: response.status, body: text.startsWith("{") && isJson(response) ? JSON.parse(text) : {} };
}

const isJson = ({ headers }: Response): boolean => headers.get("Content-Type")?.startsWith("application/json") ?? false;

async function ask(user: string, event: string, payload: object): Promise<Record<string, unknown>> {
  return (await sockets[user]!.timeout(PATIENCE_MS).emitWithAck(event, payload)) as Record<string, unknown>;
}

/** All kinds of clients, each with a token, a transport or a namespace of its own. */
async function assemble(): Promise<void> {
  for (const role of ["service", "moderator", "reader", "member"] as const)
    tokens[role] = await tokenFor(role, { role });
  tokens["friend"] = await tokenFor("friend");
  tokens["granted"] = await tokenFor("granted");
  for (const [user, token] of Object.entries(tokens)) secrets.set(`${user}'s token`, token);
  sockets["service"] = await enter("service", tokens["service"]!, { transports: ["polling"] });
  const { service } = sockets;
  await service.timeout(PATIENCE_MS).emitWithAck("grant", { user: "granted", role: "moderator" });
  for (const user of ["moderator", "reader", "member", "friend", "granted"])
    sockets[user] = await enter(user, tokens[user]!);
  await enter("the moderator's page", tokens["moderator"]!, {}, "/admin");
  await enter("the page of the moderator by grant", tokens["granted"], {}, "/admin");
}

/** Every event of a client, as far as it goes. */
async function walkEvents(): Promise<void> {
  const { id } = await ask("member", "chat-message", { content: "hello", clientMsgId: "one" });
  const again = await ask("member", "chat-message", { content: "another" });
  const payloads: Record<string, object> = {
    "chat-message": { content: "hello", clientMsgId: "one" },
    "delete-message": { id: again["id"] },
    attend: { to: "all" },
    "open-dm": { user: FRIENDS[1] },
    "refresh-token": { token: tokens["member"] },
  };
  const actions: ReadonlySet<string> = new Set(ACTIONS.map(({ name }) => name));
  for (const { name, by, examples } of CHAT_EVENTS.filter((event) => !actions.has(event.name))) {
    const [example] = examples;
    const payload = payloads[name] ?? { ...example, ...("id" in example! && { id }) };
    await ask(by === "moderators" ? "moderator" : "member", name, payload);
  }
  await ask("moderator", "mute", { user: "reader", seconds: 60 });
  await ask("reader", "chat-message", { content: "no" });
  await ask("member", "refresh-token", { token: `${tokens["member"]}x` });
  await ask("member", "no-such-event", {});
}

/** Every call of the OpenAPI document, with tokens that may call it and some that may not; calls that end something come last. */
async function walkCalls(): Promise<void> {
  const { id } = (await request("service", "POST", `/api/rooms/${ROOM}/messages`, { content: "by HTTP" })).body;
  const file = new Blob(["a note"], { type: "text/plain" });
  const { body: uploaded } = await request("service", "POST", `/api/rooms/${ROOM}/files?name=note.txt`, file);
  const attachment = uploaded["attachment"] as { readonly key?: string } | undefined;
  const bodies: Record<string, unknown> = {
    announce: { rooms: [ROOM], data: "news" },
    openDm: { user: FRIENDS[1] },
    drainRooms: { rooms: ["elsewhere"], reconnectWithinMs: 1000 },
    postMessage: { content: "by HTTP" },
    editMessage: { content: "by HTTP, better" },
    react: { emoji: "👍", on: true },
    moderate: { action: "mute", user: "reader", seconds: 60 },
    linkRooms: { to: "mirror" },
    replayDeadLetters: {},
    uploadFile: file,
  };
  const queries: Record<string, string> = {
    uploadFile: "?name=note.txt",
    listDms: "",
    searchMessages: "?query=hello",
    unlinkRooms: "?to=mirror",
    getRoomStats: "?limit=2",
  };
  const { paths } = (await request("service", "GET", "/openapi.json")).body as {
    paths: Record<string, Record<string, { operationId?: string }>>;
  };
  const places: Record<string, string> = { room: ROOM, key: attachment?.key ?? "none", id: String(id) };
  const operations = Object.entries(paths).flatMap(([place, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId }]) =>
      operationId === undefined ? [] : [{ place, method: method.toUpperCase(), operationId }],
    ),
  );
  const isLast = ({ method }: { method: string }): number => Number(method === "DELETE");
  const shortestLast = (place: string): number => -place.length;
  const inOrder = operations.sort(
    (a, b) => isLast(a) - isLast(b) || (isLast(a) ? shortestLast(a.place) - shortestLast(b.place) : 0),
  );
  for (const { place, method, operationId } of inOrder) {
    const address = place.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(places[name] ?? "none"));
    for (const user of ["reader", "member", "granted", "moderator", "service"])
      await request(user, method, `${address}${queries[operationId] ?? ""}`, bodies[operationId]);
  }
}

/** Page after page of the connections, as `Link` leads. */
async function walkPages(user: string): Promise<number> {
  const ids: unknown[] = [];
  let address: string | undefined = `/api/rooms/${ROOM}/stats?limit=1`;
  while (address !== undefined) {
    const { body } = await request(user, "GET", address);
    ids.push(...(body["connections"] as Array<{ id?: unknown }>).map(({ id }) => id));
    const [where, headers] = said.at(-2)!;
    expect(where).toContain("headers");
    address = /<([^>]+)>; rel=\\?"next/.exec(headers)?.[1];
  }
  expect.soft(new Set(ids).size, "each connection has a name of its own").toBe(ids.length);
  return ids.length;
}

/** Answers that refuse, of the addresses that sockets use. */
async function walkRefusals(): Promise<void> {
  const sid = secrets.get("service's sid")!;
  const member = tokens["member"]!;
  const endpoint = `/rooms/${ROOM}/socket.io/?EIO=4`;
  const elsewhere = "/rooms/elsewhere/socket.io/?EIO=4";
  for (const address of [
    `${elsewhere}&transport=polling&sid=${sid}`,
    `${elsewhere}&transport=websocket&sid=${sid}`,
    `${endpoint}&transport=carrier-pigeon&sid=${sid}&token=${member}`,
    `/rooms/${ROOM}/socket.io/?EIO=3&transport=polling&sid=${sid}&token=${member}`,
    `${endpoint}&transport=polling&token=${member}x`,
    `/nowhere?token=${member}&sid=${sid}`,
    `/health?token=${member}`,
    `/metrics?token=${member}`,
  ])
    await request("member", "GET", address);
}

it("no answer, event, log, header, address or webhook contains a session id, a pid or a token: EIO-12", async () => {
  await assemble();
  await walkEvents();
  for (const user of ["granted", "moderator", "service"])
    expect(await walkPages(user)).toBe(Object.keys(sockets).length + 2);
  await walkRefusals();
  await vi.waitFor(() => expect(said.some(([where]) => where === "webhook")).toBe(true), WAIT);
  await walkCalls();
  say("the log", server.output);

  expect(secrets.size).toBeGreaterThan(15);
  expect(said.some(([where, text]) => where === "an event for the moderator's page" && text.includes('"watch"'))).toBe(
    true,
  );
  expect(server.output, "debug lines are written").toMatch(/"level":"debug"/);
  const leaks = said.flatMap(([where, text]) =>
    [...secrets].flatMap(([whose, secret]) => (text.includes(secret) ? [`${whose} in ${where}`] : [])),
  );
  expect(leaks).toEqual([]);
});
