// Tokens: which pass, with which key, and which parts of claims are taken.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type JWTPayload } from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { readSettings } from "../../../src/settings/settings.ts";
import { NAME_LENGTH_MAX, USER_LENGTH_MAX } from "../../../src/protocol/limits.ts";
import { ROOMS_MAX } from "../../../src/settings/tokens/claims.ts";
import { TOKEN_LENGTH_MAX } from "../../../src/settings/tokens/signatures.ts";
import { signToken, TokenVerifier } from "../../../src/settings/tokens/tokens.ts";
import { hostileTokens } from "../../attacks/tokens.ts";

const SECRET = "a-secret-that-only-the-tests-know";
const secretKey = new TextEncoder().encode(SECRET);
const nowSeconds = (): number => Math.floor(Date.now() / 1000);

function verifier(variables: Record<string, string>): TokenVerifier {
  const result = readSettings(variables);
  if (!result.ok) throw new Error(result.problems.join("; "));
  return new TokenVerifier(result.settings);
}

type Key = Parameters<SignJWT["sign"]>[0];

/** A token for `ada` that lives for an hour, unless `claims` say otherwise. */
function sign(claims: object = {}, key: Key = secretKey, alg = "HS256", kid?: string): Promise<string> {
  const payload: JWTPayload = { sub: "ada", exp: nowSeconds() + 3600, ...claims };
  return new SignJWT(payload).setProtectedHeader({ alg, ...(kid && { kid }) }).sign(key);
}

const bySecret = verifier({ JWT_SECRET: SECRET });
const UNAUTHORIZED = { ok: false, code: "UNAUTHORIZED", message: expect.any(String) };
const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("without a key", () => {
  it.each([
    ["signed with some secret", () => sign()],
    ["unsigned", async () => `${base64url({ alg: "none" })}.${base64url({ sub: "ada" })}.`],
    ["signed with a secret of zeros", () => sign({}, new Uint8Array(32))],
  ])("no token passes: %s", async (_what, token) => {
    const message = "No token is accepted here: the server has no key to verify one";
    expect(await verifier({}).verify(await token())).toEqual({ ...UNAUTHORIZED, message });
  });
});

describe("HS256", () => {
  it("a token names its user; missing claims have defaults", async () => {
    const exp = nowSeconds() + 60;
    expect(await bySecret.verify(await sign({ exp }))).toEqual({
      ok: true,
      identity: { user: "ada", name: "ada", role: "member", exp },
    });
  });

  it("takes a token's claims", async () => {
    const claims = { name: " Ada Lovelace ", role: "moderator", rooms: ["general", "dev-*"] };
    expect(await bySecret.verify(await sign(claims))).toMatchObject({
      identity: { user: "ada", name: "Ada Lovelace", role: "moderator", rooms: ["general", "dev-*"] },
    });
  });

  it("tokens of signToken pass", async () => {
    const checked = verifier({ JWT_SECRET: SECRET, JWT_ISSUER: "i", JWT_AUDIENCE: "a" });
    const claims = { user: "ada", name: "Ada", role: "reader", rooms: ["x"], issuer: "i", audience: "a" };
    const { user, name, role, rooms } = claims;
    expect(await checked.verify(await signToken(SECRET, claims, 60))).toMatchObject({
      ok: true,
      identity: { user, name, role, rooms },
    });
  });

  it("a good token that comes again is good until its end, and no other passes in its place", async () => {
    const exp = nowSeconds() + 60;
    const [token, ofBen] = [await sign({ exp }), await sign({ sub: "ben", exp })];
    const [header, payload, signature] = token.split(".");
    const good = { ok: true, identity: { user: "ada", name: "ada", role: "member", exp } };
    for (let turn = 0; turn < 2; turn++) expect(await bySecret.verify(token)).toEqual(good);
    expect(await bySecret.verify(`${header}.${ofBen.split(".")[1]}.${signature}`)).toEqual(UNAUTHORIZED);
    expect(await bySecret.verify(`${header}.${payload}.${ofBen.split(".")[2]}`)).toEqual(UNAUTHORIZED);
    expect(await bySecret.verify(ofBen)).toMatchObject({ identity: { user: "ben" } });
    vi.useFakeTimers({ now: exp * 1000, toFake: ["Date"] });
    try {
      expect(await bySecret.verify(token)).toMatchObject({ ok: false, code: "TOKEN_EXPIRED" });
    } finally {
      vi.useRealTimers();
    }
  });
});

it("hostile tokens: none passes", async () => {
  const publicKey = await exportSPKI((await generateKeyPair("ES256")).publicKey);
  const byKey = verifier({ JWT_PUBLIC_KEY: publicKey });
  // A good token for another room is refused by the Worker and the room.
  const hostile = (await hostileTokens({ secret: SECRET, publicKey })).filter(({ code }) => code !== "FORBIDDEN_ROOM");
  for (const { name, token, code } of [...hostile, { name: "none", token: "", code: "UNAUTHORIZED" }]) {
    const verdict = await bySecret.verify(token);
    expect(verdict, name).toMatchObject({ ok: false, code });
    if (token.length > 9) expect(JSON.stringify(verdict), name).not.toContain(token.slice(-20));
    expect(await byKey.verify(token), name).toEqual(UNAUTHORIZED);
  }
});

describe("the time of a token", () => {
  it("an expired token that is forged is wrong, not expired", async () => {
    const forged = await sign({ exp: nowSeconds() - 1 }, new TextEncoder().encode("another"));
    expect(await bySecret.verify(forged)).toEqual(UNAUTHORIZED);
  });

  it("a token without exp passes only with ALLOW_UNEXPIRING_TOKENS=on", async () => {
    const token = await sign({ exp: undefined });
    expect(await bySecret.verify(token)).toEqual(UNAUTHORIZED);
    const lenient = verifier({ JWT_SECRET: SECRET, ALLOW_UNEXPIRING_TOKENS: "on" });
    expect(await lenient.verify(token)).toEqual({ ok: true, identity: { user: "ada", name: "ada", role: "member" } });
  });

  describe("with a fixed clock", () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
    afterEach(() => void vi.useRealTimers());

    it("TOK-7: a token passes up to a minute before its nbf, as clocks differ, and not sooner", async () => {
      expect(await bySecret.verify(await sign({ nbf: nowSeconds() + 2 }))).toMatchObject({ ok: true });
      expect(await bySecret.verify(await sign({ nbf: nowSeconds() + 60 }))).toMatchObject({ ok: true });
      expect(await bySecret.verify(await sign({ nbf: nowSeconds() + 61 }))).toEqual(UNAUTHORIZED);
    });

    it("TOK-7: its end is exact", async () => {
      expect(await bySecret.verify(await sign({ exp: nowSeconds() }))).toMatchObject({ code: "TOKEN_EXPIRED" });
      expect(await bySecret.verify(await sign({ exp: nowSeconds() + 1 }))).toMatchObject({ ok: true });
    });
  });
});

describe("issuer and audience", () => {
  const strict = verifier({ JWT_SECRET: SECRET, JWT_ISSUER: "https://issuer", JWT_AUDIENCE: "parley" });

  it("pass where they are as expected", async () => {
    expect(await strict.verify(await sign({ iss: "https://issuer", aud: "parley" }))).toMatchObject({ ok: true });
    expect(await strict.verify(await sign({ iss: "https://issuer", aud: ["other", "parley"] }))).toMatchObject({
      ok: true,
    });
  });

  it.each([
    {},
    { iss: "https://issuer" },
    { aud: "parley" },
    { iss: "https://other", aud: "parley" },
    { iss: "https://issuer", aud: "other" },
  ])("%j is refused", async (claims) => {
    expect(await strict.verify(await sign(claims))).toEqual(UNAUTHORIZED);
  });

  it("are ignored where none is set", async () => {
    expect(await bySecret.verify(await sign({ iss: "anyone", aud: "anything" }))).toMatchObject({ ok: true });
  });
});

describe("claims at their limits", () => {
  const isBelieved = async (claims: object): Promise<boolean> => (await bySecret.verify(await sign(claims))).ok;

  it.each<[what: string, at: object, beyond: object]>([
    ["sub", { sub: "u".repeat(USER_LENGTH_MAX) }, { sub: "u".repeat(USER_LENGTH_MAX + 1) }],
    ["rooms", { rooms: Array(ROOMS_MAX).fill("r") }, { rooms: Array(ROOMS_MAX + 1).fill("r") }],
    ["a room", { rooms: [`${"r".repeat(64)}*`] }, { rooms: [`${"r".repeat(65)}*`] }],
  ])("%s: the limit passes, one more does not", async (_what, at, beyond) => {
    expect(await isBelieved(at)).toBe(true);
    expect(await isBelieved(beyond)).toBe(false);
  });

  it("a token of the longest length is read, a longer one is refused unread", async () => {
    const base = (await sign({ pad: "" })).length;
    const fill = Math.floor(((TOKEN_LENGTH_MAX - base) * 3) / 4) - 4;
    const long = await sign({ pad: "x".repeat(fill) });
    expect(long.length).toBeLessThanOrEqual(TOKEN_LENGTH_MAX);
    expect(long.length).toBeGreaterThan(TOKEN_LENGTH_MAX - 16);
    expect(await bySecret.verify(long)).toMatchObject({ ok: true });
    expect(await bySecret.verify(await sign({ pad: "x".repeat(fill + 20) }))).toEqual(UNAUTHORIZED);
  });

  it.each<object>([
    { name: "a\tb" },
    { sub: "\u2800 \ufe0f" },
    { sub: "\u{e0041}" },
    { name: `${"\u200b".repeat(64)}Ada` },
    { sub: `${"\u3164".repeat(64)}ada` },
  ])("%j is refused", async (claims) => {
    expect(await bySecret.verify(await sign(claims))).toEqual(UNAUTHORIZED);
  });

  it.each(["admin", "Moderator", "authenticated", null, 7, {}, [], ["admin", 7]])(
    "TOK-6: the role %j is none of ours: a member",
    async (role) => {
      expect(await bySecret.verify(await sign({ role }))).toMatchObject({ identity: { role: "member" } });
    },
  );

  it.each([
    [["admin", "moderator"], "moderator"],
    [["reader", "member"], "member"],
    [["reader"], "reader"],
    [["moderator", "service"], "service"],
  ])("TOK-6: of the roles %j the highest counts", async (role, read) => {
    expect(await bySecret.verify(await sign({ role }))).toMatchObject({ identity: { role: read } });
  });

  it.each([
    ["n".repeat(NAME_LENGTH_MAX), "n".repeat(NAME_LENGTH_MAX)],
    ["n".repeat(NAME_LENGTH_MAX + 1), "n".repeat(NAME_LENGTH_MAX)],
    [`${"n".repeat(NAME_LENGTH_MAX - 1)}\u{1F600}`, "n".repeat(NAME_LENGTH_MAX - 1)],
    [`${"n".repeat(NAME_LENGTH_MAX - 1)} Lovelace`, "n".repeat(NAME_LENGTH_MAX - 1)],
    [null, "ada"],
  ])("TOK-6: cuts the name %j to the length of a name", async (name, read) => {
    expect(await bySecret.verify(await sign({ name }))).toMatchObject({ identity: { name: read } });
  });

  it.each(["member", "moderator", "reader", "service"])("the role %s is accepted", async (role) => {
    expect(await bySecret.verify(await sign({ role }))).toMatchObject({ identity: { role } });
  });

  it.each(["Ада", "\u5f20\u4f1f", "Zo\u00eb \u{1F600}", "\u0645\u0631\u064a\u0645", "__proto__"])(
    "the name %s is accepted",
    async (name) => {
      expect(await bySecret.verify(await sign({ sub: name, name }))).toMatchObject({ identity: { user: name, name } });
    },
  );

  it.each(["", "   "])("a name that is %j is replaced by the user id, cut to the length of a name", async (name) => {
    const sub = "u".repeat(USER_LENGTH_MAX);
    const result = await bySecret.verify(await sign({ sub, name }));
    expect(result).toMatchObject({ identity: { user: sub, name: "u".repeat(NAME_LENGTH_MAX) } });
  });
});

describe.each(["RS256", "ES256", "EdDSA"])("%s", (alg) => {
  it("a token passes by PEM, by PEM with escaped line breaks, and by JWK", async () => {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    const token = await sign({}, privateKey, alg);
    const pem = await exportSPKI(publicKey);
    for (const key of [pem, pem.replaceAll("\n", "\\n"), JSON.stringify(await exportJWK(publicKey))]) {
      expect(await verifier({ JWT_PUBLIC_KEY: key }).verify(token)).toMatchObject({
        ok: true,
        identity: { user: "ada" },
      });
    }
  });

  it("refuses a token of another key, and one signed with the public key as an HMAC secret", async () => {
    const { publicKey } = await generateKeyPair(alg, { extractable: true });
    const other = await generateKeyPair(alg);
    const pem = await exportSPKI(publicKey);
    const jwk = JSON.stringify(await exportJWK(publicKey));
    for (const key of [pem, jwk]) {
      const checked = verifier({ JWT_PUBLIC_KEY: key });
      const withSecret = verifier({ JWT_PUBLIC_KEY: key, JWT_SECRET: SECRET });
      const confused = await sign({}, new TextEncoder().encode(key));
      expect(await checked.verify(await sign({}, other.privateKey, alg))).toEqual(UNAUTHORIZED);
      expect(await checked.verify(confused)).toEqual(UNAUTHORIZED);
      expect(await withSecret.verify(confused)).toEqual(UNAUTHORIZED);
      expect(await checked.verify(await sign())).toEqual(UNAUTHORIZED);
      expect(await withSecret.verify(await sign())).toMatchObject({ ok: true });
    }
  });
});

describe("an invalid public key", () => {
  it.each(["nonsense", "{}", '{"kty":"oct","k":"c2VjcmV0"}', "{"])("%s is named as a bad setting", (key) => {
    expect(readSettings({ JWT_PUBLIC_KEY: key })).toEqual({
      ok: false,
      problems: [expect.stringMatching(/^JWT_PUBLIC_KEY: must be a public key/)],
    });
  });

  it("refuses a private JWK", async () => {
    const { privateKey } = await generateKeyPair("ES256", { extractable: true });
    const key = JSON.stringify(await exportJWK(privateKey));
    expect(readSettings({ JWT_PUBLIC_KEY: key })).toMatchObject({ ok: false });
  });

  it("a text that only looks like a key lets no token pass, and the log has the reason", async () => {
    const complaint = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { privateKey } = await generateKeyPair("ES256");
    const key = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----";
    expect(await verifier({ JWT_PUBLIC_KEY: key }).verify(await sign({}, privateKey, "ES256"))).toEqual(UNAUTHORIZED);
    expect(complaint).toHaveBeenCalled();
    complaint.mockRestore();
  });
});

describe("a JWKS", () => {
  let server: Server;
  let url: string;
  const keys = new Map<string, { alg: string; privateKey: Key }>();

  beforeAll(async () => {
    const published: object[] = [];
    for (const alg of ["RS256", "ES256", "EdDSA"]) {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
      keys.set(alg, { alg, privateKey });
      published.push({ ...(await exportJWK(publicKey)), kid: alg, alg });
    }
    server = createServer((_request, response) => {
      response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: published }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys.json`;
  });

  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it.each(["RS256", "ES256", "EdDSA"])("gives the key of a token (%s)", async (alg) => {
    const token = await sign({}, keys.get(alg)!.privateKey, alg, alg);
    expect(await verifier({ JWT_JWKS_URL: url }).verify(token)).toMatchObject({ ok: true, identity: { user: "ada" } });
  });

  it("verifies no token of a key outside of it, of a mismatched key, or of a secret", async () => {
    const checked = verifier({ JWT_JWKS_URL: url });
    const { privateKey } = await generateKeyPair("ES256");
    expect(await checked.verify(await sign({}, privateKey, "ES256", "ES256"))).toEqual(UNAUTHORIZED);
    expect(await checked.verify(await sign({}, privateKey, "ES256", "unknown"))).toEqual(UNAUTHORIZED);
    expect(await checked.verify(await sign({}, privateKey, "ES256", "RS256"))).toEqual(UNAUTHORIZED);
    expect(await checked.verify(await sign({}, secretKey, "HS256", "RS256"))).toEqual(UNAUTHORIZED);
  });
});
