// Hostile requests, tokens and origins against a room in which two others go on chatting, after each kind of input.
import { exports } from "cloudflare:workers";
import { exportSPKI, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { FOREIGN_ORIGINS, REQUESTS_BY_KIND, ROOM, SPOOFED_HEADERS } from "../attacks/requests.ts";
import { hostileTokens, type HostileToken } from "../attacks/tokens.ts";
import { AttackedRoom } from "../durable/attacked-room.ts";
import { callApi, request } from "../durable/api-caller.ts";
import { request as poll } from "../durable/poller.ts";
import { ORIGIN, RawClient, upgrade } from "../durable/raw-client.ts";
import { env } from "cloudflare:workers";
import { tokenFor, useSettings, workerWith } from "../durable/rooms.ts";

useSettings({ MESSAGE_RATE: "10000", MESSAGE_BURST: "10000", API_RATE: "1000", API_BURST: "1000" });

const attacked = new AttackedRoom(ROOM);
beforeAll(() => attacked.open());
afterAll(() => attacked.close());

/** Texts that no answer to an attack may contain. */
const INSIDES = /\bat .+:\d+|\.ts:|node_modules|SQLITE|stack/i;

describe("requests", () => {
  it.each(Object.entries(REQUESTS_BY_KIND))("%s", async (_kind, requests) => {
    for (const { name, method = "GET", path, headers = {}, body, status, isMember, isService } of requests) {
      const all = new Headers(headers);
      if (isMember) all.set("Authorization", `Bearer ${await tokenFor("mallory")}`);
      if (isService) all.set("Authorization", `Bearer ${await tokenFor("mallory", { role: "service" })}`);
      if (body !== undefined && !all.has("Content-Type")) all.set("Content-Type", "application/json");
      const asked = new Request(ORIGIN + path, { method, headers: all, ...(body !== undefined && { body }) });
      const response = await exports.default.fetch(asked);
      expect(response.webSocket, name).toBeNull();
      const text = await response.text();
      expect(response.status, `${name}: ${text}`).toBe(status);
      expect(text, name).not.toMatch(INSIDES);
      expect([...response.headers.keys()], name).not.toContain("x-injected");
    }
    await attacked.goesOn();
  });
});

describe("pages of other sites", () => {
  const fetcher = workerWith({ ENVIRONMENT: "production", MAX_CONNECTIONS_PER_IP: "0", CONNECT_RATE_PER_IP: "0" });

  it("get in over neither transport, and read nothing of the API", async () => {
    const token = await tokenFor("ada");
    // test/http/request-origin.test.ts has all of them.
    for (const Origin of ["null", "http://parley.test.evil.example", "https://parley.test"]) {
      expect(FOREIGN_ORIGINS).toContain(Origin);
      const upgraded = await upgrade({ room: ROOM, fetcher, headers: { Origin }, query: { token } });
      expect([Origin, upgraded.status, upgraded.webSocket]).toEqual([Origin, 403, null]);
      const polled = await poll({ room: ROOM, fetcher, headers: { Origin } });
      expect([Origin, polled.status]).toEqual([Origin, 403]);
      await polled.text();
      const called = await callApi("GET", `/api/rooms/${ROOM}`, { fetcher, headers: { Origin } });
      for (const { headers } of [polled, called])
        for (const name of ["Access-Control-Allow-Origin", "Access-Control-Allow-Credentials"])
          expect(headers.get(name), `${name} for ${Origin}`).toBeNull();
    }
    await attacked.goesOn();
  });
});

describe("pages of other sites that load an address without a script, for which browsers send no Origin", () => {
  const image = { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image" };
  const frame = { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe" };
  const link = { ...frame, "Sec-Fetch-Dest": "document", "Sec-Fetch-User": "?1" };
  const neighbour = { ...image, "Sec-Fetch-Site": "same-site" };
  const own = { ...image, "Sec-Fetch-Site": "same-origin" };
  const typed = { ...link, "Sec-Fetch-Site": "none" };
  const asked: string[] = [];
  const CHAT_ROOM = { getByName: (name: string) => (asked.push(name), env.CHAT_ROOM.getByName(name)) };
  const settings = { ENVIRONMENT: "production", CONNECT_RATE_PER_IP: "3", GUEST_ACCESS: "on", CHAT_ROOM };
  const workerFor = (more: object = {}, options = {}): ReturnType<typeof workerWith> =>
    workerWith({ ...settings, ...more }, options);
  type Worker = ReturnType<typeof workerFor>;
  const statusOf = async (fetcher: Worker, path: string, headers: Record<string, string>, method = "GET") =>
    (await fetcher.fetch(new Request(ORIGIN + path, { method, headers }))).status;
  const POLLING = "/rooms/foreign/socket.io/?EIO=4&transport=polling";
  const WEBSOCKET = "/rooms/foreign/socket.io/?EIO=4&transport=websocket";

  it.each([
    ["an image", image],
    ["a frame", frame],
    ["a followed link", link],
    ["an image on a neighbour of the same site", neighbour],
    ["a script", { ...image, "Sec-Fetch-Dest": "script" }],
  ])("%s wakes no room and takes no member's connections and guests", async (_what, headers) => {
    const fetcher = workerFor();
    asked.length = 0;
    for (let times = 0; times < 4; times++) {
      for (const path of [POLLING, "/socket.io/?EIO=4&transport=polling", `${POLLING}&sid=${"x".repeat(20)}`])
        expect(await statusOf(fetcher, path, headers)).toBe(403);
      expect(await statusOf(fetcher, WEBSOCKET, { ...headers, Upgrade: "websocket" })).toBe(403);
      expect(await statusOf(fetcher, "/api/guest", headers, "POST")).toBe(403);
    }
    expect(asked).toEqual([]);
    expect(await statusOf(fetcher, POLLING, own)).toBe(200);
    expect(await statusOf(fetcher, POLLING, typed)).toBe(200);
    expect(await statusOf(fetcher, POLLING, {})).toBe(200);
    expect(await statusOf(fetcher, "/api/guest", own, "POST")).toBe(200);
  });

  it("a form or script of a page that may not connect takes no guests either", async () => {
    const fetcher = workerFor({ ALLOWED_ORIGINS: "https://app.test" });
    for (let times = 0; times < 4; times++)
      expect(await statusOf(fetcher, "/api/guest", { Origin: "https://evil.example" }, "POST")).toBe(403);
    expect(await statusOf(fetcher, "/api/guest", { Origin: "https://app.test" }, "POST")).toBe(200);
  });

  it("a page of the same site may, if ALLOWED_ORIGINS has pages of that site", async () => {
    const sub = new URL(ORIGIN);
    for (const [ALLOWED_ORIGINS, status] of [
      ["*", 200],
      [`http://app.${sub.hostname}`, 200],
      [`${ORIGIN}:5173`, 200],
      ["https://elsewhere.example", 403],
    ] as const) {
      expect([ALLOWED_ORIGINS, await statusOf(workerFor({ ALLOWED_ORIGINS }), POLLING, neighbour)]).toEqual([
        ALLOWED_ORIGINS,
        status,
      ]);
      expect(await statusOf(workerFor({ ALLOWED_ORIGINS }), POLLING, image)).toBe(403);
    }
  });

  it.each(["*", "https://app.test"])(
    "where a cookie names the user (%s), only links to files bring it",
    async (list) => {
      const cookies: Array<string | null> = [];
      const authenticate = ({ headers }: Request) => (cookies.push(headers.get("Cookie")), { user: "ada" });
      const fetcher = workerFor({ ALLOWED_ORIGINS: list, API_RATE: "1", API_BURST: "5" }, { authenticate });
      const withCookie = (headers: object) => ({ ...headers, Cookie: "session=ada" });
      const file = "/files/foreign-e1-f1";
      asked.length = 0;
      for (let times = 0; times < 6; times++) {
        for (const headers of [image, frame]) expect(await statusOf(fetcher, file, withCookie(headers))).toBe(403);
        for (const headers of [image, frame, link])
          for (const path of ["/api/rooms/foreign", "/api/rooms", POLLING])
            expect(await statusOf(fetcher, path, withCookie(headers))).toBe(403);
      }
      expect([asked, cookies]).toEqual([[], []]);
      for (const headers of [link, typed, own]) expect(await statusOf(fetcher, file, withCookie(headers))).toBe(404);
      expect(cookies).toEqual(["session=ada", "session=ada", "session=ada"]);
    },
  );

  it("open metrics are for no such page, and for links", async () => {
    const fetcher = workerFor({ METRICS_TOKEN: undefined });
    expect(await statusOf(fetcher, "/metrics", image)).toBe(403);
    for (const headers of [link, own, typed, {}]) expect(await statusOf(fetcher, "/metrics", headers)).toBe(200);
  });
});

describe("headers that are not a client's to write", () => {
  it.each(SPOOFED_HEADERS)("%s: %s", async (name, value) => {
    const client = await RawClient.open({ room: ROOM, headers: { [name]: value } });
    await expect(client.connect()).rejects.toMatchObject({ data: { code: "UNAUTHORIZED" } });
    client.close();
    const response = await poll({ room: ROOM, headers: { [name]: value } });
    expect(await response.text()).toMatch(/^0\{/);
    expect((await callApi("GET", `/api/rooms/${ROOM}`, { as: null, headers: { [name]: value } })).status).toBe(401);
    await attacked.goesOn();
  });
});

describe("tokens", async () => {
  const { publicKey } = await generateKeyPair("RS256", { extractable: true });
  const pem = await exportSPKI(publicKey);
  const tokens = await hostileTokens({ secret: env.JWT_SECRET, publicKey: pem });
  // Texts travel in ways of their own, and rooms are looked at here. Of the rest, which test/settings/tokens/tokens.test.ts has whole, one of a kind.
  const sent = tokens.filter(
    ({ kind }, at) =>
      kind === "malformed" || kind === "for other rooms" || tokens.findIndex((token) => token.kind === kind) === at,
  );

  const refused = async (response: Response, { name, token, code }: HostileToken): Promise<void> => {
    expect(response.webSocket, name).toBeNull();
    const text = await response.text();
    expect([response.status, JSON.parse(text).error.code], name).toEqual([code === "FORBIDDEN_ROOM" ? 403 : 401, code]);
    expect(text, name).not.toMatch(INSIDES);
    if (token.length > 9) expect(text, name).not.toContain(token.slice(-20));
  };

  it("open neither a connection nor the API, and are in no answer and no log", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    for (const token of sent) {
      await refused(await upgrade({ room: ROOM, query: { token: token.token } }), token);
      if (!/^[\x21-\x7e]+$/.test(token.token)) continue;
      const headers = { Authorization: `Bearer ${token.token}` };
      await refused(await request("GET", `/api/rooms/${ROOM}`, { as: null, headers }), token);
    }
    const logged = log.mock.calls.flat().join("\n");
    for (const { token } of sent.filter(({ token }) => token.length > 9)) expect(logged).not.toContain(token);
    log.mockRestore();
    await attacked.goesOn();
  });

  const TRIES = 50;

  it("open no room in CONNECT", async () => {
    // Each may try again over its connection, fewer than a hundred times (SIO-11).
    for (let from = 0; from < sent.length; from += TRIES) {
      const client = await RawClient.open({ room: ROOM });
      for (const { name, token, code } of sent.slice(from, from + TRIES))
        await expect(client.connect({ token }), name).rejects.toMatchObject({ data: { code } });
      expect(client.closed).toBeUndefined();
      client.close();
    }
    await attacked.goesOn();
  });

  it("of other keys open nothing where public keys are believed", async () => {
    const fetcher = workerWith({ JWT_SECRET: undefined, GUEST_ACCESS: undefined, JWT_PUBLIC_KEY: pem });
    for (const token of tokens.filter(({ kind }) => kind === "of another key"))
      await refused(await upgrade({ room: ROOM, fetcher, query: { token: token.token } }), token);
    await attacked.goesOn();
  });
});
