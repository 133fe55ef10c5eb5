// Tokens: JSON Web Tokens that name a user. The Worker verifies those of an upgrade and the room those of
// a CONNECT, with this same code. Source: RFC 7519 (JWT), RFC 8725 (best current practices).
import { errors, importJWK, importSPKI, jwtVerify, SignJWT, type CryptoKey, type JWK } from "jose";
import { z } from "zod";

import type { Authentication, Identity } from "../protocol/identity.ts";
import { readAs } from "../protocol/read-as.ts";
import { KeysUnavailable, keySetAt, type KeySet } from "./key-set.ts";
import { logProblem } from "./log.ts";
import type { Settings } from "./settings.ts";

export const USER_LENGTH_MAX = 128;
export const NAME_LENGTH_MAX = 64;
/** A longer token is refused unread. */
export const TOKEN_LENGTH_MAX = 8192;
/** Rooms that one token may list. */
export const ROOMS_MAX = 100;

const PUBLIC_KEY_ALGORITHMS = ["RS256", "ES256", "EdDSA"] as const;

/** Control characters (C0, DEL, C1) have no place in a name that others see. */
// oxlint-disable-next-line eslint/no-control-regex -- written so that other languages' tools can read it, too
const PRINTABLE = /^[^\u0000-\u001F\u007F-\u009F]*$/;

/** The last moment that a clock here can be set to, in seconds since 1970 (the limit of a JavaScript date). */
const EXP_MAX = 8.64e12;

export const userSchema = z
  .string("is required")
  .min(1, "is required")
  .max(USER_LENGTH_MAX, `at most ${USER_LENGTH_MAX} characters`)
  .regex(PRINTABLE, "control characters are not allowed");

const nameOf = (text: z.ZodString) =>
  text
    .max(NAME_LENGTH_MAX, `at most ${NAME_LENGTH_MAX} characters`)
    .regex(PRINTABLE, "control characters are not allowed");

export const nameSchema = nameOf(z.string());

/** A name as somebody typed it: its length is looked at without the spaces around it. */
export const typedNameSchema = nameOf(z.string().trim());

const claimsSchema = z.object({
  sub: userSchema,
  name: nameSchema.optional(),
  rooms: z.array(z.string().max(65)).max(ROOMS_MAX, `at most ${ROOMS_MAX} rooms`).optional(),
  role: z.enum(["member", "moderator", "reader", "service"]).default("member"),
  exp: z.number().min(0).max(EXP_MAX, "too far in the future").optional(),
});

/** Verifies tokens against the keys of the settings; keys are imported once and kept. */
export class TokenVerifier {
  readonly #settings: Settings;
  readonly #secret: string | undefined;
  #secretKey: Promise<CryptoKey> | undefined;
  #publicKey: Promise<ImportedKey> | undefined;
  readonly #keySet: KeySet | undefined;

  /** @param keySetOf the key set at an address */
  constructor(settings: Settings, keySetOf = keySetAt) {
    this.#settings = settings;
    const { secret, jwksUrl } = settings.jwt;
    this.#secret = secret;
    this.#keySet = jwksUrl === undefined ? undefined : keySetOf(jwksUrl);
  }

  async verify(token: string): Promise<Authentication> {
    if (token.length > TOKEN_LENGTH_MAX) return unauthorized("The token is too long");
    try {
      return this.#toIdentity(await this.#claimsOf(token));
    } catch (error) {
      if (error instanceof errors.JWTExpired) {
        return { ok: false, code: "TOKEN_EXPIRED", message: "The token has expired" };
      }
      if (error instanceof errors.JWTClaimValidationFailed)
        return unauthorized(`The token's claim ${error.claim} is not accepted`);
      if (error instanceof KeysUnavailable) {
        const { message, retryAfterMs } = error;
        return { ok: false, code: "UNAVAILABLE", message, retryAfterMs };
      }
      if (error instanceof errors.JOSEError) return unauthorized("The token is not valid");
      // What remains is trouble with a key of the settings: not the bearer's fault, still no way in.
      logProblem("token.unverified", "a token could not be verified", error);
      return unauthorized("The token could not be verified");
    }
  }

  /** Each algorithm is tied to its own kind of key: a public key never serves as an HMAC secret. */
  async #claimsOf(token: string): Promise<unknown> {
    const { issuer, audience } = this.#settings.jwt;
    const expected = { ...(issuer && { issuer }), ...(audience && { audience }) };
    if (algorithmOf(token) === "HS256") {
      if (!this.#secret) throw new errors.JOSEAlgNotAllowed("no secret is set");
      const key = await (this.#secretKey ??= importSecret(this.#secret));
      return (await jwtVerify(token, key, { ...expected, algorithms: ["HS256"] })).payload;
    }
    const { publicKey } = this.#settings.jwt;
    if (publicKey !== undefined) {
      const { key, algorithm } = await (this.#publicKey ??= importPublicKey(publicKey));
      return (await jwtVerify(token, key, { ...expected, algorithms: [algorithm] })).payload;
    }
    if (!this.#keySet) throw new errors.JOSEAlgNotAllowed("no public key is set");
    return (await jwtVerify(token, this.#keySet.keyOf, { ...expected, algorithms: [...PUBLIC_KEY_ALGORITHMS] }))
      .payload;
  }

  #toIdentity(payload: unknown): Authentication {
    const claims = readAs(claimsSchema, payload);
    if (!claims.success) {
      const [issue] = claims.error.issues;
      return unauthorized(`The token's claim ${issue?.path.join(".")}: ${issue?.message}`);
    }
    const { sub, name, rooms, role, exp } = claims.data;
    if (exp === undefined && !this.#settings.allowUnexpiringTokens) return unauthorized("The token has no exp claim");
    const identity: Identity = {
      user: sub,
      name: displayName(sub, name),
      role,
      ...(rooms && { rooms }),
      ...(exp !== undefined && { exp }),
    };
    return { ok: true, identity };
  }
}

/** The name a user goes by: the one that was given, or as much of the user id as a name may have. */
export function displayName(user: string, name?: string): string {
  return name?.trim() || Array.from(user).slice(0, NAME_LENGTH_MAX).join("");
}

interface TokenClaims {
  readonly user: string;
  readonly name?: string;
  readonly role?: string;
  readonly rooms?: readonly string[];
  /** Marks a visitor without an account, who may ask for another token of the same user (guest-tokens.ts). */
  readonly guest?: boolean;
  readonly issuer?: string;
  readonly audience?: string;
}

/** Signs a token for the local secret. @param ttlSeconds how long it lives */
export function signToken(secret: string, claims: TokenClaims, ttlSeconds: number): Promise<string> {
  const { user, name, role, rooms, guest, issuer, audience } = claims;
  const token = new SignJWT({
    ...(name && { name }),
    ...(role && { role }),
    ...(rooms && { rooms }),
    ...(guest && { guest }),
  })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(user)
    .setIssuedAt()
    .setExpirationTime(`${ttlSeconds}s`);
  if (issuer) token.setIssuer(issuer);
  if (audience) token.setAudience(audience);
  return token.sign(new TextEncoder().encode(secret));
}

/** Imported once: given as bytes, it would be imported again for every token, which costs more than to verify one. */
function importSecret(secret: string): Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

interface ImportedKey {
  readonly key: CryptoKey | Uint8Array;
  readonly algorithm: string;
}

/** Takes a PEM (SPKI) or a JWK; the key itself says which algorithm it is for. */
async function importPublicKey(text: string): Promise<ImportedKey> {
  if (text.trimStart().startsWith("{")) {
    const jwk = JSON.parse(text) as JWK;
    const algorithm = new Map<unknown, string>([
      ["RSA", "RS256"],
      ["EC", "ES256"],
      ["OKP", "EdDSA"],
    ]).get(jwk.kty);
    if (!algorithm || jwk.d !== undefined) throw new Error("JWT_PUBLIC_KEY: not a public RSA, EC or OKP key");
    return { key: await importJWK(jwk, algorithm), algorithm };
  }
  for (const algorithm of PUBLIC_KEY_ALGORITHMS) {
    try {
      // A PEM in an environment variable often has its line breaks escaped.
      return { key: await importSPKI(text.replaceAll("\\n", "\n"), algorithm), algorithm };
    } catch {
      continue;
    }
  }
  throw new Error("JWT_PUBLIC_KEY: neither a PEM (SPKI) nor a JWK of an RSA, P-256 or Ed25519 key");
}

/** The algorithm a token claims; only ever used to choose which of our own keys is asked. */
function algorithmOf(token: string): unknown {
  const [header] = token.split(".", 1);
  try {
    const json = atob((header ?? "").replaceAll("-", "+").replaceAll("_", "/"));
    return (JSON.parse(json) as { alg?: unknown }).alg;
  } catch {
    throw new errors.JWTInvalid("unreadable header");
  }
}

function unauthorized(message: string): Authentication {
  return { ok: false, code: "UNAUTHORIZED", message };
}
