// Refusals that the Worker makes without the room: status, body, and an untouched room.
import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { base64url, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { upgrade, type UpgradeOptions } from "../durable/raw-client.ts";
import { tokenFor, workerWith } from "../durable/rooms.ts";

/** Files before this one have rooms. */
let rooms: string[];
const roomsThere = async (): Promise<string[]> => (await listDurableObjectIds(env.CHAT_ROOM)).map(String).toSorted();

beforeEach(async () => {
  rooms = await roomsThere();
});
afterEach(async () => {
  expect(await roomsThere(), "rooms touched").toEqual(rooms);
});

async function refusal(options: UpgradeOptions): Promise<{ status: number; body: unknown; headers: Headers }> {
  const response = await upgrade(options);
  expect(response.webSocket).toBeNull();
  return { status: response.status, body: await response.json(), headers: response.headers };
}

const error = (code: string): object => ({ error: { code, message: expect.any(String) } });

describe("room names: 400 BAD_ROOM", () => {
  const bad = ["-x", ".hidden", "_x", "~x", "a b", "é", "a\u0000", "..", "x".repeat(65), "a%2Fb", "<script>"];
  it.each(["", ...bad])("?room=%j", async (room) => {
    expect(await refusal({ query: { room } })).toMatchObject({ status: 400, body: error("BAD_ROOM") });
  });
  it.each(bad.filter((name) => name !== ".."))("/rooms/%s/socket.io/", async (room) => {
    const refused = await refusal({ room: encodeURIComponent(room) });
    expect(refused).toMatchObject({ status: 400, body: error("BAD_ROOM") });
  });
});

describe("Engine.IO's own refusals: EIO-5", () => {
  const cases: ReadonlyArray<[what: string, options: UpgradeOptions, body: object]> = [
    ["an unknown transport", { query: { transport: "pigeon" } }, { code: 0, message: "Transport unknown" }],
    ["no transport", { query: { transport: undefined } }, { code: 0, message: "Transport unknown" }],
    [
      "a method other than GET",
      { method: "POST", headers: { Upgrade: "" } },
      { code: 2, message: "Bad handshake method" },
    ],
    ["Engine.IO 3", { query: { EIO: "3" } }, { code: 5, message: "Unsupported protocol version" }],
    ["no revision", { query: { EIO: undefined } }, { code: 5, message: "Unsupported protocol version" }],
  ];
  it.each(cases)("%s", async (_what, options, body) => {
    for (const room of [undefined, "general"]) {
      expect(await refusal({ ...options, ...(room && { room }) })).toMatchObject({ status: 400, body });
    }
  });

  it("a plain GET for the WebSocket transport: 426", async () => {
    const refused = await refusal({ headers: { Upgrade: "" } });
    expect(refused).toMatchObject({ status: 426, body: error("UPGRADE_REQUIRED") });
    expect(refused.headers.get("Upgrade")).toBe("websocket");
  });
});

describe("tokens: 401", () => {
  const encode = (part: object): string => base64url.encode(JSON.stringify(part));
  const inAnHour = Math.floor(Date.now() / 1000) + 3600;
  const sign = (payload: object): Promise<string> =>
    new SignJWT({ ...payload }).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(env.JWT_SECRET));
  const bad: ReadonlyArray<[what: string, token: () => string | Promise<string>, code?: string]> = [
    ["no JWT at all", () => "nonsense"],
    ["three empty parts", () => ".."],
    ["alg none", () => `${encode({ alg: "none" })}.${encode({ sub: "ada", exp: inAnHour })}.`],
    ["alg None", () => `${encode({ alg: "None" })}.${encode({ sub: "ada", exp: inAnHour })}.`],
    ["RS256 where there is only a secret", () => `${encode({ alg: "RS256" })}.${encode({ sub: "ada" })}.AAAA`],
    ["a signature that was cut", async () => (await tokenFor("ada")).slice(0, -4)],
    ["another secret", async () => otherSecret()],
    ["no sub", () => sign({ exp: inAnHour })],
    ["an empty sub", () => sign({ sub: "", exp: inAnHour })],
    ["a sub of 129 characters", () => sign({ sub: "x".repeat(129), exp: inAnHour })],
    ["a sub that is a list", () => sign({ sub: ["ada"], exp: inAnHour })],
    ["rooms that are a number", () => sign({ sub: "ada", rooms: 1, exp: inAnHour })],
    ["no exp", () => sign({ sub: "ada" })],
    ["a time that is over", () => tokenFor("ada", {}, -10), "TOKEN_EXPIRED"],
    ["9,000 characters", () => "x".repeat(9000)],
  ];

  async function otherSecret(): Promise<string> {
    const claims = new SignJWT({ sub: "ada", exp: inAnHour }).setProtectedHeader({ alg: "HS256" });
    return claims.sign(new TextEncoder().encode("not the secret of this server"));
  }

  it.each(bad)("%s", async (_what, makeToken, code = "UNAUTHORIZED") => {
    const token = await makeToken();
    const ways: UpgradeOptions[] = [
      { headers: { Authorization: `Bearer ${token}` } },
      { query: { token } },
      { headers: { "Sec-WebSocket-Protocol": `bearer, ${token}` } },
    ];
    for (const way of ways) expect(await refusal(way)).toMatchObject({ status: 401, body: error(code) });
  });

  it("has nothing of the token in the refusal", async () => {
    const token = `${await tokenFor("ada")}x`;
    expect(JSON.stringify((await refusal({ query: { token } })).body)).not.toContain(token.slice(-20));
  });

  it("Authorization counts before ?token=, and that before the subprotocol", async () => {
    const good = await tokenFor("ada");
    const both: UpgradeOptions = { headers: { Authorization: "Bearer bad" }, query: { token: good } };
    expect(await refusal(both)).toMatchObject({ status: 401 });
    const rest: UpgradeOptions = { query: { token: "bad" }, headers: { "Sec-WebSocket-Protocol": `bearer, ${good}` } };
    expect(await refusal(rest)).toMatchObject({ status: 401 });
  });

  it("AUTH_AT=upgrade: none at all", async () => {
    const refused = await refusal({ fetcher: workerWith({ AUTH_AT: "upgrade" }) });
    expect(refused).toMatchObject({ status: 401, body: error("UNAUTHORIZED") });
  });
});

describe("403", () => {
  it("a token for other rooms: FORBIDDEN_ROOM", async () => {
    const token = await tokenFor("ada", { rooms: ["lobby", "team-*"] });
    for (const room of ["general", "lobby2", "team"]) {
      expect(await refusal({ room, query: { token } })).toMatchObject({ status: 403, body: error("FORBIDDEN_ROOM") });
    }
  });

  it.each(["https://evil.example", "http://chat.example", "https://chat.example:444", "null"])(
    "a page of %s, which ALLOWED_ORIGINS does not name",
    async (origin) => {
      const fetcher = workerWith({ ALLOWED_ORIGINS: "https://chat.example, https://beta.example" });
      const refused = await refusal({ fetcher, headers: { Origin: origin } });
      expect(refused).toMatchObject({ status: 403, body: { code: 4, message: expect.stringMatching(/^Forbidden/) } });
    },
  );

  it("production admits pages of its own origin only, unless ALLOWED_ORIGINS names others", async () => {
    const fetcher = workerWith({ ENVIRONMENT: "production" });
    expect(await refusal({ fetcher, headers: { Origin: "https://evil.example" } })).toMatchObject({ status: 403 });
  });
});

describe("a server that is not set up: 503", () => {
  const cases: ReadonlyArray<[what: string, settings: Record<string, unknown>, named: string]> = [
    ["without any key", { JWT_SECRET: undefined }, "JWT_SECRET"],
    ["with an empty secret", { JWT_SECRET: "" }, "JWT_SECRET"],
    ["with a bad number", { PING_INTERVAL_MS: "soon" }, "PING_INTERVAL_MS"],
    ["with a bad choice", { AUTH_AT: "never" }, "AUTH_AT"],
    ["with timers that overflow", { PING_INTERVAL_MS: "2147483647" }, "PING_INTERVAL_MS"],
  ];
  it.each(cases)("%s, and the log names the setting", async (_what, settings, named) => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const fetcher = workerWith({ GUEST_ACCESS: undefined, ...settings });
    const token = await tokenFor("ada");
    const refused = await refusal({ fetcher, query: { token } });
    expect(refused).toMatchObject({ status: 503, body: error("MISCONFIGURED") });
    // Only the operator learns the cause.
    expect(JSON.stringify(refused.body)).not.toContain(named);
    expect(log.mock.calls.flat().join("\n")).toContain(named);
    const health = await fetcher.fetch(new Request("http://parley.test/health"));
    expect(health.status).toBe(503);
    expect((await fetcher.fetch(new Request("http://parley.test/api/guest", { method: "POST" }))).status).toBe(503);
    log.mockRestore();
  });
});
