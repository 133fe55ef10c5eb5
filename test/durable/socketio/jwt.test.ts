// jwt: the tokens that an application of one's own accepts. Signing and verifying are real; the platform's keys are those of workerd.
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type CryptoKey } from "jose";
import { jwt, type JwtOptions } from "parley-rooms/socketio";
import { describe, expect, it } from "vitest";

const SECRET = "a secret that is long enough for this";
const OTHER = "another one, which was valid last week";
const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

function sign(claims: object, key: string | CryptoKey = SECRET, alg = "HS256"): Promise<string> {
  const token = new SignJWT({ sub: "ada", exp: inSeconds(60), ...claims }).setProtectedHeader({ alg });
  return token.sign(typeof key === "string" ? new TextEncoder().encode(key) : key);
}

const verdict = async (options: JwtOptions, token: Promise<string> | string): Promise<unknown> =>
  jwt(options)(await token, "plans");

describe("a good token", () => {
  it("gives its user, with all claims", async () => {
    const exp = inSeconds(60);
    expect(await verdict({ secret: SECRET }, sign({ name: "Ada", exp, plan: "gold", rooms: ["a"] }))).toEqual({
      user: "ada",
      name: "Ada",
      sub: "ada",
      exp,
      plan: "gold",
      rooms: ["a"],
    });
  });

  it.each(["", 7, null])("that has the name %j gives none: the user id stands for it", async (name) => {
    const user = await verdict({ secret: SECRET }, sign({ name }));
    expect(user).toEqual({ user: "ada", sub: "ada", exp: expect.any(Number) });
  });

  it("may be signed with either of two secrets, while one replaces the other", async () => {
    const secret = [SECRET, OTHER];
    for (const key of secret) expect(await verdict({ secret }, sign({}, key))).toMatchObject({ user: "ada" });
  });

  it.each(["RS256", "ES256", "EdDSA"])("%s: may be signed with a private key", async (alg) => {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    for (const key of [await exportSPKI(publicKey), JSON.stringify(await exportJWK(publicKey))])
      expect(await verdict({ publicKey: key }, sign({}, privateKey, alg))).toMatchObject({ user: "ada" });
  });

  it("may go without an end, where that is allowed", async () => {
    const token = sign({ exp: undefined });
    expect(await verdict({ secret: SECRET, allowUnexpiring: true }, token)).toEqual({ user: "ada", sub: "ada" });
    expect(await verdict({ secret: SECRET }, token)).toMatchObject({
      ok: false,
      message: "The token has no exp claim",
    });
  });
});

describe("refused", () => {
  const refusals: Array<[what: string, token: () => Promise<string> | string, message: string]> = [
    ["another secret", () => sign({}, OTHER), "The token is not valid"],
    ["no token at all", () => "hello", "The token is not valid"],
    ["no user", () => sign({ sub: undefined }), "The token's claim sub: must be a text of 1 to 128 characters"],
    ["an empty user", () => sign({ sub: "" }), "The token's claim sub: must be a text of 1 to 128 characters"],
    [
      "too long a user",
      () => sign({ sub: "x".repeat(129) }),
      "The token's claim sub: must be a text of 1 to 128 characters",
    ],
    ["rooms that are no list", () => sign({ rooms: "all" }), "The token's claim rooms: must be a list of texts"],
    ["another audience", () => sign({ aud: "elsewhere", iss: "us" }), "The token's claim aud is not accepted"],
    ["another issuer", () => sign({ aud: "boards", iss: "eve" }), "The token's claim iss is not accepted"],
  ];

  it.each(refusals)("%s", async (_what, token, message) => {
    const audience = message.includes("aud") || message.includes("iss") ? { audience: "boards", issuer: "us" } : {};
    expect(await verdict({ secret: SECRET, ...audience }, token())).toEqual({
      ok: false,
      code: "UNAUTHORIZED",
      message,
    });
  });

  it("a token whose time is over, by its own code", async () => {
    expect(await verdict({ secret: SECRET }, sign({ exp: inSeconds(-1) }))).toMatchObject({ code: "TOKEN_EXPIRED" });
  });

  it("a public key that is used as a secret", async () => {
    const { publicKey } = await generateKeyPair("RS256", { extractable: true });
    const pem = await exportSPKI(publicKey);
    expect(await verdict({ publicKey: pem }, sign({}, pem))).toMatchObject({ code: "UNAUTHORIZED" });
  });
});

describe("keys", () => {
  it.each<[JwtOptions, string]>([
    [{}, "jwt: it needs a secret, a publicKey or a jwksUrl"],
    [{ secret: undefined }, "jwt: it needs a secret, a publicKey or a jwksUrl"],
    [{ secret: [] }, "jwt: it needs a secret, a publicKey or a jwksUrl"],
    [{ secret: "short" }, "jwt: a secret has at least 32 characters"],
    [{ secret: [SECRET, "short"] }, "jwt: a secret has at least 32 characters"],
  ])("%j is an error at once", (options, error) => {
    expect(() => jwt(options)).toThrow(error);
  });
});
