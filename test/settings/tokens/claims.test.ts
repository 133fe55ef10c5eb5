// Tokens with claims of other names, and tokens signed with the previous secret.
import { exportSPKI, generateKeyPair, SignJWT, type JWTPayload } from "jose";
import { describe, expect, it } from "vitest";

import { readSettings } from "../../../src/settings/settings.ts";
import { signToken, TokenVerifier } from "../../../src/settings/tokens/tokens.ts";

const SECRET = "a-secret-that-only-the-tests-know";
const nowSeconds = (): number => Math.floor(Date.now() / 1000);
const UNAUTHORIZED = { ok: false, code: "UNAUTHORIZED", message: expect.any(String) };

function verifier(variables: Record<string, string>): TokenVerifier {
  const result = readSettings({ JWT_SECRET: SECRET, ...variables });
  if (!result.ok) throw new Error(result.problems.join("; "));
  return new TokenVerifier(result.settings);
}

function sign(claims: object = {}, secret = SECRET): Promise<string> {
  const payload: JWTPayload = { sub: "ada", exp: nowSeconds() + 3600, ...claims };
  return new SignJWT(payload).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(secret));
}

describe("TOK-6: claims by other names", () => {
  const named = verifier({
    CLAIM_USER: "https://example.com/id",
    CLAIM_NAME: "profile.names.0",
    CLAIM_ROLE: "app.https://example.com/role",
    CLAIM_ROOMS: "__proto__.rooms",
  });
  const claims = {
    "https://example.com/id": "ada-1",
    profile: { names: ["Ada", "Augusta"] },
    app: { "https://example.com/role": "reader" },
  };

  it("are read by their whole name, by a path, and by a path to a name with dots", async () => {
    const identity = { user: "ada-1", name: "Ada", role: "reader" };
    expect(await named.verify(await sign(claims))).toMatchObject({ ok: true, identity });
  });

  it("a claim of that exact name comes before a path", async () => {
    const token = await sign({ ...claims, "profile.names.0": "Countess" });
    expect(await named.verify(token)).toMatchObject({ identity: { name: "Countess" } });
  });

  it("are named in error messages; inherited members of objects are no claims", async () => {
    const refused = await named.verify(await sign({ ...claims, "https://example.com/id": 7 }));
    expect(refused).toMatchObject({ ok: false, message: "The token's claim https://example.com/id: is required" });
    const inherited = verifier({ CLAIM_USER: "constructor.name" });
    expect(await inherited.verify(await sign())).toEqual(UNAUTHORIZED);
  });

  it("tokens of guests, which this server signs, keep the default names; signToken signs by the set ones", async () => {
    const guest = await signToken(SECRET, { user: "guest-1", name: "Gus", guest: true }, 60);
    expect(await named.verify(guest)).toMatchObject({ identity: { user: "guest-1", name: "Gus", role: "member" } });
    const names = { user: "https://example.com/id", name: "profile.names.0", role: "app.role", rooms: "rooms" };
    const token = await signToken(SECRET, { user: "eva", name: "Eva", names }, 60);
    expect(await named.verify(token)).toMatchObject({ identity: { user: "eva", name: "Eva" } });
  });
});

it("TOK-6: a provider's `guest` claim makes no guest of this server: the token is read by the set names, and opens its own rooms", async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const checked = verifier({
    JWT_PUBLIC_KEY: await exportSPKI(publicKey),
    CLAIM_ROLE: "app.role",
    GUEST_ROOMS: "lounge",
  });
  const token = await new SignJWT({ sub: "ada", exp: nowSeconds() + 60, guest: true, role: "moderator" })
    .setProtectedHeader({ alg: "ES256" })
    .sign(privateKey);
  const { ok, ...verdict } = await checked.verify(token);
  expect([ok, verdict]).toEqual([
    true,
    { identity: { user: "ada", name: "ada", role: "member", exp: expect.any(Number) } },
  ]);
});

describe("a secret that is being rotated", () => {
  const OLD = "the-secret-that-was-there-before-it";

  it("passes with the previous one, as long as that is set", async () => {
    const rotating = verifier({ JWT_SECRET_PREVIOUS: OLD });
    expect(await rotating.verify(await sign())).toMatchObject({ ok: true });
    expect(await rotating.verify(await sign({}, OLD))).toMatchObject({ ok: true });
    expect(await rotating.verify(await sign({ exp: nowSeconds() - 5 }, OLD))).toMatchObject({ code: "TOKEN_EXPIRED" });
    expect(await rotating.verify(await sign({}, "another"))).toEqual(UNAUTHORIZED);
    expect(await verifier({}).verify(await sign({}, OLD))).toEqual(UNAUTHORIZED);
  });
});
