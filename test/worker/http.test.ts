// The Worker's plain HTTP: health and guests.
import { exports } from "cloudflare:workers";
import { env } from "cloudflare:workers";
import { decodeJwt, SignJWT } from "jose";
import { describe, expect, it } from "vitest";

import { ORIGIN, RawClient, upgrade } from "../durable/raw-client.ts";
import { freshRoom, tokenFor, workerWith } from "../durable/rooms.ts";

const fetchPath = (path: string, init?: RequestInit): Promise<Response> =>
  exports.default.fetch(new Request(new URL(path, ORIGIN), init));

async function answerOf(response: Response): Promise<{ status: number; body: unknown }> {
  return { status: response.status, body: await response.json() };
}

const guest = (body?: string): Promise<Response> =>
  fetchPath("/api/guest", { method: "POST", ...(body !== undefined && { body }) });

const error = (code: string): object => ({ error: { code, message: expect.any(String) } });

it("GET /health", async () => {
  const before = Date.now();
  const { status, body } = await answerOf(await fetchPath("/health"));
  expect({ status, body }).toEqual({
    status: 200,
    body: { status: "healthy", timestamp: expect.any(Number), version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
  });
  const { timestamp } = body as { timestamp: number };
  expect(timestamp).toBeGreaterThanOrEqual(before);
  expect(timestamp).toBeLessThanOrEqual(Date.now());
});

describe("guests", () => {
  it.each([
    ["no body", undefined],
    ["an empty object", "{}"],
    ["an empty name", '{"name":"  "}'],
  ])("%s: the guest gets a user id, which is also the name", async (_what, body) => {
    const { status, body: answer } = await answerOf(await guest(body));
    const { user, name, token } = answer as Record<string, string>;
    expect(status).toBe(200);
    expect(user).toMatch(/^guest-/);
    expect(name).toBe(user);
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  it("two guests of one name are two users, and their tokens open a room", async () => {
    const room = freshRoom();
    const users = new Set<unknown>();
    for (const name of ["Zoë", "Zoë"]) {
      const { token, user } = await (await guest(JSON.stringify({ name }))).json<Record<string, string>>();
      const client = await RawClient.open({ room });
      await client.connect({ token });
      expect(await client.receives("welcome")).toMatchObject([{ user, name, role: "member" }]);
      users.add(user);
    }
    expect(users.size).toBe(2);
  });

  describe("with GUEST_ROOMS", () => {
    const fetcher = workerWith({ GUEST_ROOMS: "lounge, help-*" });
    const statusOf = async (room: string, token: string): Promise<number> =>
      (await upgrade({ room, fetcher, query: { token } })).status;

    it("tokens of guests open these rooms, no other and no direct messages", async () => {
      const asked = await fetcher.fetch(new Request(`${ORIGIN}/api/guest`, { method: "POST", body: "{}" }));
      const { token } = await asked.json<{ token: string }>();
      expect(decodeJwt(token)).toMatchObject({ guest: true, rooms: ["lounge", "help-*"] });
      for (const [room, status] of [
        ["lounge", 101],
        ["help-7", 101],
        ["lounge2", 403],
        ["staff-only", 403],
        ["dm~abc", 403],
      ] as const)
        expect([room, await statusOf(room, token)]).toEqual([room, status]);
      const client = await RawClient.open({ room: "staff-only" });
      await expect(client.connect({ token })).rejects.toMatchObject({ data: { code: "FORBIDDEN_ROOM" } });
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
      const open = { method: "POST", headers, body: '{"user":"ada"}' };
      for (const init of [open, { headers }])
        expect((await fetcher.fetch(new Request(`${ORIGIN}/api/dms`, init))).status).toBe(403);
    });

    it("so do earlier tokens of guests; members are not limited", async () => {
      const former = await tokenFor("guest-a", { guest: true });
      expect(await statusOf("lounge", former)).toBe(101);
      expect(await statusOf("staff-only", former)).toBe(403);
      expect(await statusOf("staff-only", await tokenFor("ada"))).toBe(101);
    });
  });

  const DAY_SECONDS = 24 * 60 * 60;
  const renew = (token: string, body = "{}"): Promise<Response> =>
    fetchPath("/api/guest", { method: "POST", body, headers: { Authorization: `Bearer ${token}` } });

  it("a guest with an earlier token stays the same user, under the same name or another one", async () => {
    const { token, user } = await (await guest('{"name":"Zoë"}')).json<Record<string, string>>();
    const { status, body } = await answerOf(await renew(token!));
    expect({ status, body }).toEqual({ status: 200, body: { token: expect.any(String), user, name: "Zoë" } });
    const { token: next } = body as { readonly token: string };
    const renamed = await (await renew(next, '{"name":"Zoe"}')).json<Record<string, string>>();
    expect(renamed).toMatchObject({ user, name: "Zoe" });
    const client = await RawClient.open({ room: freshRoom() });
    await client.connect({ token: renamed["token"]! });
    expect(await client.receives("welcome")).toMatchObject([{ user, name: "Zoe", role: "member" }]);
  });

  it("a guest's token is renewed until 30 days after its end, and not later", async () => {
    const lately = await tokenFor("guest-a", { guest: true }, -30 * DAY_SECONDS + 60);
    expect((await answerOf(await renew(lately))).body).toMatchObject({ user: "guest-a", name: "guest-a" });
    const longAgo = await tokenFor("guest-a", { guest: true }, -30 * DAY_SECONDS - 60);
    expect(await answerOf(await renew(longAgo))).toEqual({ status: 401, body: error("UNAUTHORIZED") });
  });

  it("a backend's token with a claim `guest` of its own is no guest's, and is renewed never", async () => {
    const sign = (claims: object): Promise<string> =>
      new SignJWT({ exp: Math.floor(Date.now() / 1000) + 60, ...claims })
        .setProtectedHeader({ alg: "HS256" })
        .sign(new TextEncoder().encode(env.JWT_SECRET));
    for (const claims of [
      { sub: "ada", guest: true },
      { sub: "guest-ada", guest: true, name: "Ada" },
      { sub: "guest-0123", guest: true },
      { sub: "guest-00000000000000aa", guest: "checkout" },
      { sub: "guest-00000000000000AA", guest: true },
      { sub: "ada", guest: true, parley: true },
      { sub: "ada", parley: "guest" },
    ])
      expect(await answerOf(await renew(await sign(claims)))).toEqual({ status: 401, body: error("UNAUTHORIZED") });
    const fetcher = workerWith({ GUEST_ROOMS: "lounge", CLAIM_USER: "uid" });
    const token = await sign({ sub: "x", uid: "ada", guest: true });
    expect((await upgrade({ room: "staff-only", fetcher, query: { token } })).status).toBe(101);
  });

  it("a guest's token of an earlier release, which has no mark, is renewed with one", async () => {
    const user = "guest-00000000000000aa";
    const old = await new SignJWT({ sub: user, guest: true, exp: Math.floor(Date.now() / 1000) - 60 })
      .setProtectedHeader({ alg: "HS256" })
      .sign(new TextEncoder().encode(env.JWT_SECRET));
    const { token, ...answer } = await (await renew(old)).json<Record<string, string>>();
    expect(answer).toEqual({ user, name: user });
    expect(decodeJwt(token!)).toMatchObject({ sub: user, guest: true, parley: "guest" });
  });

  it("renews tokens of guests only: no user of an application, no forged token", async () => {
    const { token } = await (await guest("{}")).json<Record<string, string>>();
    const forged = `${token!.slice(0, token!.lastIndexOf("."))}.${"A".repeat(43)}`;
    for (const bearer of [await tokenFor("ada"), await tokenFor("ada", { role: "moderator" }), forged, "nonsense"])
      expect(await answerOf(await renew(bearer))).toEqual({ status: 401, body: error("UNAUTHORIZED") });
  });

  it.each([
    ["a name of 65 characters", JSON.stringify({ name: "x".repeat(65) })],
    ["a control character", JSON.stringify({ name: "a\u0007b" })],
    ["a name that is no text", '{"name":{"toString":1}}'],
    ["a list", "[]"],
    ["no JSON", "{name:"],
  ])("%s: 400 INVALID_PAYLOAD", async (_what, body) => {
    const issues = [{ path: expect.any(String), message: expect.any(String) }];
    const { status, body: refusal } = await answerOf(await guest(body));
    expect(status).toBe(400);
    expect(refusal).toEqual({ error: { code: "INVALID_PAYLOAD", message: expect.any(String), issues } });
  });

  it("a body that is too large: 413", async () => {
    const body = JSON.stringify({ name: "x", padding: "x".repeat(5000) });
    expect(await answerOf(await guest(body))).toEqual({ status: 413, body: error("TOO_LONG") });
  });

  it.each([
    ["GUEST_ACCESS=off", { GUEST_ACCESS: "off" }],
    ["production without a word about guests", { ENVIRONMENT: "production", GUEST_ACCESS: undefined }],
  ])("%s: 403", async (_what, settings) => {
    const refused = await workerWith(settings).fetch(new Request(`${ORIGIN}/api/guest`, { method: "POST" }));
    expect(await answerOf(refused)).toEqual({ status: 403, body: error("FORBIDDEN") });
  });

  it("GET /api/guest/entrance tells visitors how they may come in", async () => {
    const entrance = async (settings: Record<string, string | undefined>) => {
      const response = await workerWith(settings).fetch(new Request(`${ORIGIN}/api/guest/entrance`));
      expect(response.headers.get("Cache-Control")).toBe("no-store");
      return answerOf(response);
    };
    const signIn = "https://login.example/sign-in?return={return}";
    expect(await entrance({})).toEqual({ status: 200, body: { guests: true } });
    expect(await entrance({ SIGN_IN_URL: signIn })).toEqual({ status: 200, body: { guests: true, signIn } });
    const closed = { ENVIRONMENT: "production", GUEST_ACCESS: undefined };
    expect(await entrance(closed)).toEqual({ status: 200, body: { guests: false } });
    expect(await entrance({ ...closed, SIGN_IN_URL: signIn })).toEqual({
      status: 200,
      body: { guests: false, signIn },
    });
    const posted = await workerWith({}).fetch(new Request(`${ORIGIN}/api/guest/entrance`, { method: "POST" }));
    expect([posted.status, posted.headers.get("Allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });

  it("answers pages of allowed origins; other pages may not read the answer", async () => {
    const worker = workerWith({ ALLOWED_ORIGINS: "https://chat.example" });
    const allowOriginFor = async (origin: string): Promise<string | null> => {
      const request = new Request(`${ORIGIN}/api/guest`, { method: "POST", headers: { Origin: origin } });
      return (await worker.fetch(request)).headers.get("Access-Control-Allow-Origin");
    };
    expect(await allowOriginFor("https://chat.example")).toBe("https://chat.example");
    expect(await allowOriginFor("https://evil.example")).toBeNull();
  });
});
