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
