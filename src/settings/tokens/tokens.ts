// Verifies and signs JSON Web Tokens. The Worker verifies tokens of upgrades, a room those of a CONNECT. Source: RFC 7519 (JWT), RFC 8725
// (best current practices).
import {
  decodeProtectedHeader,
  errors,
  importJWK,
  importSPKI,
  jwtVerify,
  SignJWT,
  type CryptoKey,
  type JWK,
} from "jose";

import type { Authentication } from "../../protocol/identity.ts";
import { CLAIM_NAMES, readClaims, type ClaimNames } from "./claims.ts";
import { KeysUnavailable, keySetAt, type KeySet } from "./key-set.ts";
import { logProblem } from "../log.ts";
import { hasKey } from "../setting-rules.ts";
import { claimNamesOf, type Settings } from "../settings.ts";

/** A longer token is refused unread. */
export const TOKEN_LENGTH_MAX = 8192;

const PUBLIC_KEY_ALGORITHMS = ["RS256", "ES256", "EdDSA"] as const;

/** The signer's clock may be this far ahead of ours. A token still ends at its second (TOK-7). */
const CLOCK_LEEWAY_SECONDS = 60;

type Payload = Readonly<Record<string, unknown>>;

/** Verifies tokens against the keys of the settings; keys are imported once and kept. */
export class TokenVerifier {
  readonly #settings: Settings;
  readonly #secrets: readonly string[];
  #secretKeys: ReadonlyArray<Promise<CryptoKey>> | undefined;
  #publicKey: Promise<ImportedKey> | undefined;
  readonly #keySet: KeySet | undefined;

  /** @param keySetOf the key set at an address */
  constructor(settings: Settings, keySetOf = keySetAt) {
    this.#settings = settings;
    this.#secrets = secretsOf(settings);
    this.#keySet = settings.jwtJwksUrl === undefined ? undefined : keySetOf(settings.jwtJwksUrl);
  }

  async verify(token: string): Promise<Authentication> {
    if (!hasKey(this.#settings)) return unauthorized("No token is accepted here: the server has no key to verify one");
    if (token.length > TOKEN_LENGTH_MAX) return unauthorized("The token is too long");
    try {
      const payload = await this.#payloadOf(token);
      const { guestRooms: rooms, allowUnexpiringTokens } = this.#settings;
      // This server itself signs the tokens of guests, also where other tokens come from a provider.
      const isGuest = payload["guest"] === true && algorithmOf(token) === "HS256";
      const claims = readClaims(payload, isGuest ? CLAIM_NAMES : claimNamesOf(this.#settings));
      if ("problem" in claims) return unauthorized(claims.problem);
      const { exp } = claims;
      if (exp === undefined && !allowUnexpiringTokens) return unauthorized("The token has no exp claim");
      if (exp !== undefined && exp * 1000 <= Date.now()) return expired();
      // A guest's token that is older than GUEST_ROOMS names no rooms.
      return { ok: true, identity: isGuest ? { ...(rooms && { rooms }), ...claims, isGuest: true } : claims };
    } catch (error) {
      if (error instanceof errors.JWTExpired) return expired();
      if (error instanceof errors.JWTClaimValidationFailed)
        return unauthorized(`The token's claim ${error.claim} is not accepted`);
      if (error instanceof KeysUnavailable) {
        const { message, retryAfterMs } = error;
        return { ok: false, code: "UNAVAILABLE", message, retryAfterMs };
      }
      if (error instanceof errors.JOSEError) return unauthorized("The token is not valid");
      // A key of the settings is at fault, not the bearer; the token is refused all the same.
      logProblem("token.unverified", "a token could not be verified", error);
      return unauthorized("The token could not be verified");
    }
  }

  /** Each algorithm is tied to its own kind of key: a public key never serves as an HMAC secret. */
  async #payloadOf(token: string): Promise<Payload> {
    const { jwtIssuer: issuer, jwtAudience: audience, jwtPublicKey } = this.#settings;
    const expected = {
      clockTolerance: CLOCK_LEEWAY_SECONDS,
      ...(issuer && { issuer }),
      ...(audience && { audience }),
    };
    if (algorithmOf(token) === "HS256") {
      if (this.#secrets.length === 0) throw new errors.JOSEAlgNotAllowed("no secret is set");
      const keys = (this.#secretKeys ??= this.#secrets.map(importSecret));
      return verifyByAny(keys, (key) => jwtVerify(token, key, { ...expected, algorithms: ["HS256"] }));
    }
    if (jwtPublicKey !== undefined) {
      const { key, algorithm } = await (this.#publicKey ??= importPublicKey(jwtPublicKey));
      return (await jwtVerify(token, key, { ...expected, algorithms: [algorithm] })).payload;
    }
    if (!this.#keySet) throw new errors.JOSEAlgNotAllowed("no public key is set");
    return (await jwtVerify(token, this.#keySet.keyOf, { ...expected, algorithms: [...PUBLIC_KEY_ALGORITHMS] }))
      .payload;
  }
}

/** The secret that tokens are signed with, and the one before it while that is being rotated out. */
export function secretsOf({ jwtSecret, jwtSecretPrevious }: Settings): readonly string[] {
  return [jwtSecret, jwtSecretPrevious].filter((secret) => secret !== undefined);
}

/** Tries the keys in turn. @throws the error of the last key where none fits */
async function verifyByAny(
  keys: ReadonlyArray<Promise<CryptoKey>>,
  verify: (key: CryptoKey) => Promise<{ readonly payload: Payload }>,
): Promise<Payload> {
  const [key, ...others] = keys;
  try {
    return (await verify(await key!)).payload;
  } catch (error) {
    if (others.length === 0 || !(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    return verifyByAny(others, verify);
  }
}

interface TokenClaims {
  readonly user: string;
  readonly name?: string | undefined;
  readonly role?: string | undefined;
  readonly rooms?: readonly string[] | undefined;
  /** Marks a visitor without an account, who may ask for another token of the same user (guest-tokens.ts). */
  readonly guest?: boolean;
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
  /** The names under which the claims are written. A dotted path is written as one name. */
  readonly names?: ClaimNames;
}

/** Signs a token for the local secret. @param ttlSeconds how long it lives */
export function signToken(secret: string, claims: TokenClaims, ttlSeconds: number): Promise<string> {
  const { user, name, role, rooms, guest, issuer, audience, names = CLAIM_NAMES } = claims;
  const token = new SignJWT({
    [names.user]: user,
    ...(name && { [names.name]: name }),
    ...(role && { [names.role]: role }),
    ...(rooms && { [names.rooms]: rooms }),
    ...(guest && { guest }),
  })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(user)
    .setIssuedAt()
    // By the clock that looks at it.
    .setExpirationTime(Math.floor(Date.now() / 1000) + ttlSeconds);
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
  try {
    return decodeProtectedHeader(token).alg;
  } catch {
    throw new errors.JWTInvalid("unreadable header");
  }
}

function expired(): Authentication {
  return { ok: false, code: "TOKEN_EXPIRED", message: "The token has expired" };
}

function unauthorized(message: string): Authentication {
  return { ok: false, code: "UNAUTHORIZED", message };
}
