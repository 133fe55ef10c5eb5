// An identity provider that is out of order, seen by clients of a real server: connected ones stay, and new ones come back (TOK-5).
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { Socket } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { connectRoom } from "../../client/core/client.ts";
import { HOST, startServer, type TestServer } from "./servers.ts";
import { ask, collect, next, open } from "./stock-clients.ts";

let provider: Server;
let server: TestServer;
let isWell = true;
let fetches = 0;
/** Waited for before each answer. */
let answering: Promise<void> | undefined;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;

const tokenOf = (user: string, { kid = "k1", ttl = "5m" } = {}): Promise<string> =>
  new SignJWT({ sub: user }).setProtectedHeader({ alg: "RS256", kid }).setExpirationTime(ttl).sign(keys.privateKey);

const connect = (room: string, token: string): Socket =>
  open(server.url, { path: `/rooms/${room}/socket.io`, auth: { token }, reconnectionDelay: 200 });

const entered = (socket: Socket): Promise<object> => next(socket, "welcome");

beforeAll(async () => {
  keys = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: "k1", alg: "RS256", use: "sig" };
  const answer = async (response: ServerResponse): Promise<void> => {
    await answering;
    if (isWell) response.setHeader("Content-Type", "application/json").end(JSON.stringify({ keys: [jwk] }));
    else response.writeHead(500).end("sorry");
  };
  provider = createServer((_request, response) => {
    fetches += 1;
    void answer(response);
  });
  await new Promise<void>((resolve) => provider.listen(0, HOST, resolve));
});
afterAll(() => provider.close());

async function serve(): Promise<void> {
  const { port } = provider.address() as AddressInfo;
  fetches = 0;
  server = await startServer({ settings: { JWT_JWKS_URL: `http://${HOST}:${port}/jwks.json`, LOG_LEVEL: "warn" } });
}

describe("an identity provider that is down when the server starts", () => {
  beforeAll(async () => {
    isWell = false;
    await serve();
  });
  afterAll(() => server?.stop());

  it("requests get 503 with Retry-After; stock clients and ours connect as soon as the provider is back", async () => {
    const token = await tokenOf("ada");
    const stock = connect("outage", token);
    const errors = collect<Error>(stock, "connect_error");
    const polling = open(server.url, {
      path: "/rooms/outage/socket.io",
      transports: ["polling"],
      auth: { token: await tokenOf("pia") },
    });
    const ours = connectRoom(server.url, "outage", { token: () => tokenOf("ben") });
    const states: string[] = [];
    ours.on("connection", ({ state }) => states.push(state));
    const asksOver = async (path: string): Promise<Response> =>
      fetch(`${server.url}${path}`, { headers: { Authorization: `Bearer ${token}` } });
    await vi.waitFor(() => expect(states.filter((state) => state === "waiting").length).toBeGreaterThan(0));
    for (const path of ["/api/rooms", "/rooms/outage/socket.io/?EIO=4&transport=polling"]) {
      const answer = await asksOver(path);
      expect(answer.status).toBe(503);
      expect(Number(answer.headers.get("Retry-After"))).toBeGreaterThan(0);
      expect(await answer.json()).toMatchObject({
        error: { code: "UNAVAILABLE", retryAfterMs: expect.any(Number) },
      });
    }
    expect(stock.connected).toBe(false);
    isWell = true;
    await Promise.all([entered(stock), entered(polling)]);
    await vi.waitFor(() => expect(ours.connection.state).toBe("connected"));
    expect(errors).toEqual([]);
    expect(states).not.toContain("stopped");
    ours.close();
    for (const socket of [stock, polling]) socket.disconnect();
  });
});

describe("an identity provider that goes down later", () => {
  beforeAll(async () => {
    isWell = true;
    await serve();
  });
  afterAll(() => server?.stop());

  it("is asked once for one token in thirty rooms, and at most once for unknown key ids in twenty", async () => {
    const token = await tokenOf("ada");
    const sockets = Array.from({ length: 30 }, (_, at) => connect(`room-${at}`, token));
    await Promise.all(sockets.map(entered));
    expect(fetches).toBe(1);
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, at) => tokenOf("eve", { kid: `made-up-${at}` })));
    const strangers = tokens.map((made, at) => connect(`room-${at}`, made));
    const refusals = await Promise.all(strangers.map((socket) => next<{ data: object }>(socket, "connect_error")));
    for (const { data } of refusals) expect(data).toEqual({ code: "UNAUTHORIZED" });
    expect(fetches).toBeLessThanOrEqual(2);
    for (const socket of [...sockets, ...strangers]) socket.disconnect();
  });

  it("while it is down no client is disconnected, and tokens with known keys are accepted", async () => {
    const ada = connect("known", await tokenOf("ada"));
    await entered(ada);
    const gone = collect<string>(ada, "disconnect");
    isWell = false;
    // Waits until a request may fetch again, and got the failure.
    await vi.waitFor(async () => {
      const unknown = { token: await tokenOf("ada", { kid: "new" }) };
      expect(await ask(ada, "refresh-token", unknown)).toEqual({
        error: { code: "UNAVAILABLE", message: expect.any(String), retryAfterMs: expect.any(Number) },
      });
    });
    const ben = connect("known", await tokenOf("ben"));
    await entered(ben);
    expect(await ask(ada, "refresh-token", { token: await tokenOf("ada") })).toMatchObject({ ok: true });
    expect(gone).toEqual([]);
    for (const socket of [ada, ben]) socket.disconnect();
  });

  it("its answer counts although the request that caused the fetch was aborted", async () => {
    const heard = Promise.withResolvers<void>();
    answering = heard.promise;
    isWell = true;
    const stranger = await tokenOf("eve", { kid: "made-up" });
    const before = fetches;
    const hangUp = new AbortController();
    await vi.waitFor(async () => {
      const headers = { Authorization: `Bearer ${stranger}` };
      const asking = fetch(`${server.url}/api/rooms`, { headers, signal: hangUp.signal }).catch(() => {});
      await vi.waitFor(() => expect(fetches).toBeGreaterThan(before), { timeout: 500 }).catch(() => asking);
      expect(fetches).toBeGreaterThan(before);
    });
    hangUp.abort();
    answering = undefined;
    heard.resolve();
    const ada = connect("heard", await tokenOf("ada"));
    const closings = collect<Error>(ada, "connect_error");
    await entered(ada);
    expect(closings).toEqual([]);
    // The answer to the aborted request's fetch has arrived: the key id is known to be unknown, and is not fetched again.
    const answer = await fetch(`${server.url}/api/rooms`, { headers: { Authorization: `Bearer ${stranger}` } });
    expect(answer.status).toBe(401);
    expect(fetches).toBe(before + 1);
    ada.disconnect();
  });
});
