// An identity provider that is out of order, seen by clients of a real server: connected ones stay, and new ones come back (TOK-5).
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { Socket } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { connectRoom } from "../../client/core/client.ts";
import { HOST, startServer, type TestServer } from "./servers.ts";
import { ask, collect, next, open } from "./stock-clients.ts";

const keys = await generateKeyPair("RS256", { extractable: true });
const jwk = { ...(await exportJWK(keys.publicKey)), kid: "k1", alg: "RS256", use: "sig" };

const tokenOf = (user: string, { kid = "k1", ttl = "5m" } = {}): Promise<string> =>
  new SignJWT({ sub: user }).setProtectedHeader({ alg: "RS256", kid }).setExpirationTime(ttl).sign(keys.privateKey);

/** An identity provider, and a server that asks it for keys. */
class Outage {
  isWell: boolean;
  fetches = 0;
  /** Waited for before each answer. */
  answering: Promise<void> | undefined;
  server!: TestServer;
  readonly #provider = createServer((_request, response) => {
    this.fetches += 1;
    void this.#answer(response);
  });

  constructor(isWell: boolean) {
    this.isWell = isWell;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#provider.listen(0, HOST, resolve));
    const { port } = this.#provider.address() as AddressInfo;
    const settings = { JWT_JWKS_URL: `http://${HOST}:${port}/jwks.json`, LOG_LEVEL: "warn" };
    this.server = await startServer({ settings });
  }

  async stop(): Promise<void> {
    this.#provider.close();
    await this.server?.stop();
  }

  connect(room: string, token: string): Socket {
    return open(this.server.url, { path: `/rooms/${room}/socket.io`, auth: { token }, reconnectionDelay: 200 });
  }

  async #answer(response: ServerResponse): Promise<void> {
    await this.answering;
    if (this.isWell) response.setHeader("Content-Type", "application/json").end(JSON.stringify({ keys: [jwk] }));
    else response.writeHead(500).end("sorry");
  }
}

const entered = (socket: Socket): Promise<object> => next(socket, "welcome");

describe.concurrent("an identity provider that is down when the server starts", () => {
  const outage = new Outage(false);
  beforeAll(() => outage.start());
  afterAll(() => outage.stop());

  it("requests get 503 with Retry-After; stock clients and ours connect as soon as the provider is back", async () => {
    const token = await tokenOf("ada");
    const stock = outage.connect("outage", token);
    const errors = collect<Error>(stock, "connect_error");
    const polling = open(outage.server.url, {
      path: "/rooms/outage/socket.io",
      transports: ["polling"],
      auth: { token: await tokenOf("pia") },
    });
    const ours = connectRoom(outage.server.url, "outage", { token: () => tokenOf("ben") });
    const states: string[] = [];
    ours.on("connection", ({ state }) => states.push(state));
    const asksOver = async (path: string): Promise<Response> =>
      fetch(`${outage.server.url}${path}`, { headers: { Authorization: `Bearer ${token}` } });
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
    outage.isWell = true;
    await Promise.all([entered(stock), entered(polling)]);
    await vi.waitFor(() => expect(ours.connection.state).toBe("connected"));
    expect(errors).toEqual([]);
    expect(states).not.toContain("stopped");
    ours.close();
    for (const socket of [stock, polling]) socket.disconnect();
  });
});

describe.concurrent("an identity provider that goes down later", () => {
  const outage = new Outage(true);
  beforeAll(() => outage.start());
  afterAll(() => outage.stop());

  it.sequential("is asked once for one token in thirty rooms, and at most once for unknown key ids in twenty", async () => {
    const token = await tokenOf("ada");
    const sockets = Array.from({ length: 30 }, (_, at) => outage.connect(`room-${at}`, token));
    await Promise.all(sockets.map(entered));
    expect(outage.fetches).toBe(1);
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, at) => tokenOf("eve", { kid: `made-up-${at}` })));
    const strangers = tokens.map((made, at) => outage.connect(`room-${at}`, made));
    const refusals = await Promise.all(strangers.map((socket) => next<{ data: object }>(socket, "connect_error")));
    for (const { data } of refusals) expect(data).toEqual({ code: "UNAUTHORIZED" });
    expect(outage.fetches).toBeLessThanOrEqual(2);
    for (const socket of [...sockets, ...strangers]) socket.disconnect();
  });

  it.sequential("while it is down no client is disconnected, and tokens with known keys are accepted", async () => {
    const ada = outage.connect("known", await tokenOf("ada"));
    await entered(ada);
    const gone = collect<string>(ada, "disconnect");
    outage.isWell = false;
    // Waits until a request may fetch again, and got the failure.
    await vi.waitFor(async () => {
      const unknown = { token: await tokenOf("ada", { kid: "new" }) };
      expect(await ask(ada, "refresh-token", unknown)).toEqual({
        error: { code: "UNAVAILABLE", message: expect.any(String), retryAfterMs: expect.any(Number) },
      });
    });
    const ben = outage.connect("known", await tokenOf("ben"));
    await entered(ben);
    expect(await ask(ada, "refresh-token", { token: await tokenOf("ada") })).toMatchObject({ ok: true });
    expect(gone).toEqual([]);
    for (const socket of [ada, ben]) socket.disconnect();
  });

  it.sequential("its answer counts although the request that caused the fetch was aborted", async () => {
    const heard = Promise.withResolvers<void>();
    outage.answering = heard.promise;
    outage.isWell = true;
    const stranger = await tokenOf("eve", { kid: "made-up" });
    const before = outage.fetches;
    const hangUp = new AbortController();
    await vi.waitFor(async () => {
      const headers = { Authorization: `Bearer ${stranger}` };
      const asking = fetch(`${outage.server.url}/api/rooms`, { headers, signal: hangUp.signal }).catch(() => {});
      await vi.waitFor(() => expect(outage.fetches).toBeGreaterThan(before), { timeout: 500 }).catch(() => asking);
      expect(outage.fetches).toBeGreaterThan(before);
    });
    hangUp.abort();
    outage.answering = undefined;
    heard.resolve();
    const ada = outage.connect("heard", await tokenOf("ada"));
    const closings = collect<Error>(ada, "connect_error");
    await entered(ada);
    expect(closings).toEqual([]);
    // The answer to the aborted request's fetch has arrived: the key id is known to be unknown, and is not fetched again.
    const answer = await fetch(`${outage.server.url}/api/rooms`, { headers: { Authorization: `Bearer ${stranger}` } });
    expect(answer.status).toBe(401);
    expect(outage.fetches).toBe(before + 1);
    ada.disconnect();
  });
});
