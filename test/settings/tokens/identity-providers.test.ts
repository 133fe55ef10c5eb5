// Tokens as identity providers make them, read by the settings of docs/identity-providers.md (TOK-6).
import { readFileSync } from "node:fs";
import path from "node:path";

import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from "jose";
import { beforeAll, describe, expect, it } from "vitest";

import { KeySet } from "../../../src/settings/tokens/key-set.ts";
import { readSettings } from "../../../src/settings/settings.ts";
import { TokenVerifier } from "../../../src/settings/tokens/tokens.ts";
import { VirtualClock } from "../../host/virtual-clock.ts";

const DOCUMENT = readFileSync(path.join(import.meta.dirname, "../../../docs/identity-providers.md"), "utf8");
const SECRET = "a-secret-that-only-the-tests-know";
const NOW = Math.floor(Date.now() / 1000);

type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];
type Verdict = Awaited<ReturnType<TokenVerifier["verify"]>>;

const privateKeys = new Map<string, PrivateKey>();
/** The answers of the provider's address. Access adds its certificates to the keys. */
let published: object;

beforeAll(async () => {
  const keys: object[] = [];
  for (const alg of ["RS256", "ES256"]) {
    const pair = await generateKeyPair(alg, { extractable: true });
    privateKeys.set(alg, pair.privateKey);
    keys.push({ ...(await exportJWK(pair.publicKey)), kid: alg, alg, use: "sig" });
  }
  published = { keys, public_cert: { kid: "RS256", cert: "-----BEGIN CERTIFICATE-----" }, public_certs: [] };
});

/** The settings of that recipe. */
function recipe(provider: string): Record<string, string> {
  const [, section = ""] = DOCUMENT.split(`\n## ${provider}\n`);
  const [, block = ""] = /```ini\n([^`]+)```/.exec(section.split("\n## ")[0]!) ?? [];
  return Object.fromEntries(
    block
      .trim()
      .split("\n")
      .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
  );
}

function verifierFor(variables: Record<string, string>): TokenVerifier {
  const result = readSettings(variables);
  if (!result.ok) throw new Error(result.problems.join("; "));
  const clock = new VirtualClock();
  const ports = {
    now: () => clock.now(),
    after: (ms: number, run: () => void) => clock.after(ms, run),
    fetch: async () => Response.json(published),
  };
  return new TokenVerifier(result.settings, (url) => new KeySet(url, ports));
}

const sign = (payload: JWTPayload, alg = "RS256"): Promise<string> =>
  new SignJWT(payload).setProtectedHeader({ alg, kid: alg, typ: "JWT" }).sign(privateKeys.get(alg)!);

async function verify(provider: string, payload: JWTPayload, alg?: string): Promise<Verdict> {
  return verifierFor(recipe(provider)).verify(await sign(payload, alg));
}

describe("TOK-6: Auth0", () => {
  const TOKEN = {
    iss: "https://example.eu.auth0.com/",
    sub: "auth0|5f7c8ec7c33c6c004bbafe82",
    aud: ["https://chat.example.com", "https://example.eu.auth0.com/userinfo"],
    iat: NOW,
    exp: NOW + 86_400,
    azp: "my_client_id",
    scope: "openid profile email",
    permissions: ["read:messages"],
    "https://chat.example.com/name": "Ada Lovelace",
    "https://chat.example.com/roles": ["billing-admin", "moderator"],
  };

  it("an access token with roles in a claim that is a URL", async () => {
    const identity = { user: TOKEN.sub, name: "Ada Lovelace", role: "moderator", exp: TOKEN.exp };
    expect(await verify("Auth0", TOKEN)).toEqual({ ok: true, identity });
  });

  it("with no role of ours it is a member's", async () => {
    for (const roles of [[], ["billing-admin"], undefined, null]) {
      const given = { ...TOKEN, "https://chat.example.com/roles": roles };
      expect(await verify("Auth0", given)).toMatchObject({ ok: true, identity: { role: "member" } });
    }
  });

  it("of another application of the same tenant is refused", async () => {
    expect(await verify("Auth0", { ...TOKEN, aud: "https://other.example.com" })).toMatchObject({ ok: false });
  });
});

describe("TOK-6: Clerk", () => {
  const TOKEN = {
    azp: "https://example.com",
    exp: NOW + 60,
    fva: [0, -1],
    iat: NOW,
    iss: "https://clerk.example.com",
    nbf: NOW - 10,
    sid: "sess_2OZZJqpmcNyRZWdaqrDQvxu2HUb",
    sts: "active",
    sub: "user_2OZZJ8OpCGnv0VMRUAZEnR9yyXg",
    v: 2,
    aud: "chat",
    name: "Ada Lovelace",
    metadata: { role: "moderator", rooms: ["support", "dm~*"] },
  };

  it("a customised session token", async () => {
    const { sub: user, exp } = TOKEN;
    const identity = { user, name: "Ada Lovelace", role: "moderator", rooms: ["support", "dm~*"], exp };
    expect(await verify("Clerk", TOKEN)).toEqual({ ok: true, identity });
  });

  it("of a user without a name, and with empty metadata", async () => {
    const { sub: user, exp } = TOKEN;
    for (const bare of [
      { name: null, metadata: {} },
      { name: undefined, metadata: undefined },
      { name: "", metadata: null },
    ]) {
      expect(await verify("Clerk", { ...TOKEN, ...bare })).toEqual({
        ok: true,
        identity: { user, name: user, role: "member", exp },
      });
    }
  });
});

describe("TOK-6: Supabase", () => {
  const TOKEN = {
    iss: "https://example.supabase.co/auth/v1",
    sub: "ab9dbd6b-3a4e-4bd9-a7e4-f8b8b0e9d1c2",
    aud: "authenticated",
    exp: NOW + 3600,
    iat: NOW,
    email: "ada@example.com",
    phone: "",
    app_metadata: { provider: "email", providers: ["email"], chat_role: "moderator", chat_rooms: ["math-*"] },
    user_metadata: { email: "ada@example.com", email_verified: true, full_name: "Ada Lovelace", chat_role: "service" },
    role: "authenticated",
    aal: "aal1",
    amr: [{ method: "password", timestamp: NOW }],
    session_id: "2b3e9f6a-6a3b-4e8b-8f3a-1f2d3c4b5a69",
    is_anonymous: false,
  };
  const IDENTITY = { user: TOKEN.sub, name: "Ada Lovelace", role: "moderator", rooms: ["math-*"], exp: TOKEN.exp };

  it("signed by a key of its key set", async () => {
    expect(await verify("Supabase", TOKEN, "ES256")).toEqual({ ok: true, identity: IDENTITY });
  });

  it("signed with the legacy secret", async () => {
    const { JWT_JWKS_URL: _url, ...others } = recipe("Supabase");
    const token = await new SignJWT(TOKEN).setProtectedHeader({ alg: "HS256", typ: "JWT" }).sign(Buffer.from(SECRET));
    expect(await verifierFor({ ...others, JWT_SECRET: SECRET }).verify(token)).toEqual({
      ok: true,
      identity: IDENTITY,
    });
  });

  it("whose `role` is Supabase's own is a member's; fields that the user wrote give no role", async () => {
    const plain = { ...TOKEN, app_metadata: { provider: "email", providers: ["email"] } };
    const { rooms: _rooms, ...open } = IDENTITY;
    expect(await verify("Supabase", plain, "ES256")).toEqual({ ok: true, identity: { ...open, role: "member" } });
  });

  it("of the anon key names no user, and is refused", async () => {
    const key = { iss: TOKEN.iss, aud: TOKEN.aud, ref: "example", role: "anon", iat: NOW, exp: NOW + 86_400 };
    expect(await verify("Supabase", key, "ES256")).toEqual({
      ok: false,
      code: "UNAUTHORIZED",
      message: "The token's claim sub: is required",
    });
  });
});

describe("TOK-6: Cloudflare Access", () => {
  const TOKEN = {
    aud: ["4714c1358e65fe4b408ad6d432a5f878f08194bdb4752441fd56faefa9b2b6f2"],
    email: "ada@example.com",
    exp: NOW + 86_400,
    iat: NOW,
    nbf: NOW,
    iss: "https://example.cloudflareaccess.com",
    type: "app",
    identity_nonce: "6ei69kawdKzMIAPF",
    sub: "7335d417-61da-459d-899c-0a01c76a2f94",
    country: "GB",
    custom: { chat_role: "reader" },
  };

  it("an application token", async () => {
    const identity = { user: TOKEN.sub, name: "ada@example.com", role: "reader", exp: TOKEN.exp };
    expect(await verify("Cloudflare Access", TOKEN)).toEqual({ ok: true, identity });
  });

  it("of a service token names no user, and is refused", async () => {
    const service = { ...TOKEN, sub: "", common_name: "e367826f93b8d71185e03fe518aad3f9.access", email: undefined };
    expect(await verify("Cloudflare Access", service)).toMatchObject({ ok: false, code: "UNAUTHORIZED" });
  });
});
