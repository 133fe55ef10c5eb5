// Refusals that the Worker makes without the room: status, body, and an untouched room.
import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { SignJWT } from "jose";
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
  it.each(["", "-x", "a b", "a\u0000", "x".repeat(65)])("?room=%j", async (room) => {
    expect(await refusal({ query: { room } })).toMatchObject({ status: 400, body: error("BAD_ROOM") });
  });
  it.each([".hidden", "é", "a%2Fb", "<script>"])("/rooms/%s/socket.io/", async (room) => {
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
  const inAnHour = Math.floor(Date.now() / 1000) + 3600;
  const signedBy = (secret: string, payload: object): Promise<string> =>
    new SignJWT({ ...payload }).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(secret));
  const bad: ReadonlyArray<[what: string, token: () => string | Promise<string>, code?: string]> = [
    ["no JWT at all", () => "nonsense"],
    ["another secret", () => signedBy("not the secret of this server", { sub: "ada", exp: inAnHour })],
    ["no sub", () => signedBy(env.JWT_SECRET, { exp: inAnHour })],
    ["a time that is over", () => tokenFor("ada", {}, -10), "TOKEN_EXPIRED"],
    ["9,000 characters", () => "x".repeat(9000)],
  ];

  it.each(bad)("%s", async (_what, makeToken, code = "UNAUTHORIZED") => {
    const token = await makeToken();
    const ways: UpgradeOptions[] = [
      { headers: { Authorization: `Bearer ${token}` } },
      { query: { token } },
      { headers: { "Sec-WebSocket-Protocol": `bearer, ${token}` } },
    ];
    for (const way of ways) expect(await refusal(way)).toMatchObject({ status: 401, body: error(code) });
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
});

describe("a server that is not set up: 503", () => {
  const cases: ReadonlyArray<[what: string, settings: Record<string, unknown>, named: string]> = [
    ["without any key", { JWT_SECRET: undefined }, "JWT_SECRET"],
    ["with a bad number", { PING_INTERVAL_MS: "soon" }, "PING_INTERVAL_MS"],
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
