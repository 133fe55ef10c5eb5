// The example of docs/in-your-worker.md with stock clients: an application's Worker, which knows its users by a cookie, has nothing of
// the chat bound but its rooms, and no key.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { consumer, type Consumer } from "./consumer.ts";
import { TEST_SECRET } from "./servers.ts";
import { ask, next, open, tokenFor, VERSIONS, type Options } from "./stock-clients.ts";

let server: Awaited<ReturnType<Consumer["serve"]>>;
let url: string;

beforeAll(async () => {
  server = await (await consumer()).serve("mounted", { SESSION_SECRET: TEST_SECRET });
  ({ url } = server);
});

afterAll(() => server.stop());

async function cookieOf(user: string): Promise<string> {
  const response = await fetch(`${url}/login`, { method: "POST", body: JSON.stringify({ user }) });
  return response.headers.get("Set-Cookie")!.split(";", 1)[0]!;
}

const TRANSPORTS: ReadonlyArray<[name: string, transports: NonNullable<Options["transports"]>]> = [
  ["WebSocket", ["websocket"]],
  ["long-polling that upgrades", ["polling", "websocket"]],
];

describe.concurrent.each(TRANSPORTS)("over %s", (_name, transports) => {
  it.each(VERSIONS)("client %s enters by its cookie, without a token, and chats", async (version, connect) => {
    const room = `lounge-${version}-${transports.length}`;
    const [ada, ben] = await Promise.all(
      ["ada", "ben"].map(async (user) => {
        const extraHeaders = { Cookie: await cookieOf(user) };
        const socket = open(url, { path: `/chat/rooms/${room}/socket.io`, transports, extraHeaders }, connect);
        expect(await next(socket, "welcome")).toMatchObject({ room, user });
        return socket;
      }),
    );
    const heard = next(ben!, "chat-message");
    expect(await ask(ada!, "chat-message", { content: "Hello!" })).toMatchObject({ ok: true, seq: 1 });
    expect(await heard).toMatchObject({ sender: "ada", content: "Hello!" });
    expect(await ask(ben!, "history", {})).toMatchObject({ ok: true, messages: [{ content: "Hello!" }] });
  });

  it("no client enters without a cookie, with a forged one, or with a token", async () => {
    for (const options of [
      {},
      { extraHeaders: { Cookie: "session=ada.forged" } },
      { extraHeaders: { Authorization: `Bearer ${await tokenFor("ada")}` } },
      { auth: { token: await tokenFor("ada") } },
    ] satisfies Options[]) {
      const socket = open(url, { path: "/chat/rooms/closed/socket.io", transports, reconnection: false, ...options });
      expect(await next(socket, "connect_error")).toBeInstanceOf(Error);
      expect(socket.connected).toBe(false);
    }
  });
});

it("the HTTP API asks the same cookie", async () => {
  const headers = { Cookie: await cookieOf("ada"), "Content-Type": "application/json" };
  const statusOf = async (init: RequestInit): Promise<number> => (await fetch(`${url}/chat/api/dms`, init)).status;
  expect(await statusOf({ method: "POST", headers, body: '{"user":"ben"}' })).toBe(201);
  expect(await statusOf({ method: "POST", body: '{"user":"ben"}' })).toBe(401);
  // The list would be the lobby's, which is not bound.
  const listed = await fetch(`${url}/chat/api/dms`, { headers });
  expect(listed.status).toBe(503);
  expect(await listed.text()).toContain("LOBBY");
});

it.each([
  ["/", "My own page"],
  ["/chat/nothing", "404 Not Found"],
])("%s is the Worker's own", async (address, text) => {
  expect(await (await fetch(url + address)).text()).toBe(text);
});
