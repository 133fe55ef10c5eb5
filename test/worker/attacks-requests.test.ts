// Hostile requests, tokens and origins, each against a room in which two others go on chatting.
import { exports } from "cloudflare:workers";
import { exportSPKI, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { FOREIGN_ORIGINS, HOSTILE_REQUESTS, ROOM, SPOOFED_HEADERS } from "../attacks/requests.ts";
import { hostileTokens } from "../attacks/tokens.ts";
import { AttackedRoom } from "../durable/attacked-room.ts";
import { callApi } from "../durable/api-caller.ts";
import { request as poll } from "../durable/poller.ts";
import { ORIGIN, RawClient, upgrade } from "../durable/raw-client.ts";
import { env } from "cloudflare:workers";
import { tokenFor, useSettings, workerWith } from "../durable/rooms.ts";

useSettings({ MESSAGE_RATE: "10000", MESSAGE_BURST: "10000", API_RATE: "1000", API_BURST: "1000" });

const attacked = new AttackedRoom();
beforeAll(() => attacked.open());
afterAll(() => attacked.close());

/** Texts that no answer to an attack may contain. */
const INSIDES = /\bat .+:\d+|\.ts:|node_modules|SQLITE|stack/i;

describe("requests", () => {
  it.each(HOSTILE_REQUESTS)(
    "$name: $status",
    async ({ method = "GET", path, headers = {}, body, status, isMember, isService }) => {
      const all = new Headers(headers);
      if (isMember) all.set("Authorization", `Bearer ${await tokenFor("mallory")}`);
      if (isService) all.set("Authorization", `Bearer ${await tokenFor("mallory", { role: "service" })}`);
      if (body !== undefined && !all.has("Content-Type")) all.set("Content-Type", "application/json");
      const asked = new Request(ORIGIN + path, { method, headers: all, ...(body !== undefined && { body }) });
      const response = await exports.default.fetch(asked);
      expect(response.webSocket).toBeNull();
      const text = await response.text();
      expect(response.status, text).toBe(status);
      expect(text).not.toMatch(INSIDES);
      expect([...response.headers.keys()]).not.toContain("x-injected");
      await attacked.goesOn();
    },
  );
});

describe("pages of other sites", () => {
  const fetcher = workerWith({ ENVIRONMENT: "production", MAX_CONNECTIONS_PER_IP: "0", CONNECT_RATE_PER_IP: "0" });

  it.each(FOREIGN_ORIGINS)("%s over WebSocket", async (Origin) => {
    const response = await upgrade({
      room: ROOM,
      fetcher,
      headers: { Origin },
      query: { token: await tokenFor("ada") },
    });
    expect(response.webSocket).toBeNull();
    expect(response.status).toBe(403);
    await attacked.goesOn();
  });

  it.each(FOREIGN_ORIGINS)("%s over long-polling", async (Origin) => {
    const response = await poll({ room: ROOM, fetcher, headers: { Origin } });
    expect(response.status).toBe(403);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
    await response.text();
    await attacked.goesOn();
  });

  it.each(FOREIGN_ORIGINS)("%s may read nothing of the API", async (Origin) => {
    const { headers } = await callApi("GET", `/api/rooms/${ROOM}`, { fetcher, headers: { Origin } });
    expect(headers.get("Access-Control-Allow-Origin")).toBeNull();
    expect(headers.get("Access-Control-Allow-Credentials")).toBeNull();
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
    for (let times = 0; times < 10; times++) {
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
    for (let times = 0; times < 10; times++)
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
      for (let times = 0; times < 10; times++) {
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
  const ofKeys = tokens.filter(({ isAboutKeys }) => isAboutKeys);

  it.each(tokens)("$name, at the upgrade and in the API: $code", async ({ token, code }) => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const status = code === "FORBIDDEN_ROOM" ? 403 : 401;
    const response = await upgrade({ room: ROOM, query: { token } });
    expect(response.webSocket).toBeNull();
    const text = await response.text();
    expect(response.status, text).toBe(status);
    expect(JSON.parse(text)).toMatchObject({ error: { code } });
    expect(text).not.toMatch(INSIDES);
    if (/^[\x21-\x7e]+$/.test(token)) {
      const called = await callApi("GET", `/api/rooms/${ROOM}`, {
        as: null,
        headers: { Authorization: `Bearer ${token}` },
      });
      expect(called.status).toBe(status);
    }
    expect(log.mock.calls.flat().join("\n")).not.toContain(token);
    log.mockRestore();
    await attacked.goesOn();
  });

  it.each(tokens)("$name, in CONNECT: $code", async ({ token, code }) => {
    const client = await RawClient.open({ room: ROOM });
    await expect(client.connect({ token })).rejects.toMatchObject({ data: { code } });
    client.close();
    await attacked.goesOn();
  });

  it.each(ofKeys)("$name, where public keys are believed: UNAUTHORIZED", async ({ token }) => {
    const fetcher = workerWith({ JWT_SECRET: undefined, GUEST_ACCESS: undefined, JWT_PUBLIC_KEY: pem });
    const response = await upgrade({ room: ROOM, fetcher, query: { token } });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: "UNAUTHORIZED" } });
    await attacked.goesOn();
  });
});
