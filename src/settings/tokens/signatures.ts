// Verifies the signatures and times of JSON Web Tokens by keys of one's own. Called by TokenVerifier for the chat's settings, and by jwt.ts
// for any application. Source: RFC 7519 (JWT), RFC 8725 (best current practices).
import { jwtVerify, type CryptoKey, type JWTVerifyResult } from "jose";
import {
  JOSEAlgNotAllowed,
  JOSEError,
  JWSSignatureVerificationFailed,
  JWTClaimValidationFailed,
  JWTExpired,
  JWTInvalid,
} from "jose/errors";

import { decodeJson } from "../../http/base64-json.ts";
import type { Unauthenticated } from "../../protocol/identity.ts";
import { logProblem } from "../log.ts";
import { KeysUnavailable, keySetAt, type KeySet } from "./key-set.ts";
import { importPublicKey, PUBLIC_ALGORITHMS, type PublicKey } from "./public-keys.ts";

/** A longer token is refused unread. */
export const TOKEN_LENGTH_MAX = 8192;

/** The signer's clock may be this far ahead of ours. A token still ends at its second (TOK-7). */
const CLOCK_LEEWAY_SECONDS = 60;

export type Payload = Readonly<Record<string, unknown>>;

/** The keys that tokens may be signed with, and the claims that are compared where they are given. */
export interface TokenKeys {
  /** For HS256, the current one first. */
  readonly secrets: readonly string[];
  /** PEM (SPKI) or JWK, for RS256, ES256 or EdDSA. */
  readonly publicKey?: string | undefined;
  /** The address of a key set, for the same algorithms. */
  readonly jwksUrl?: string | undefined;
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
}

/** A good token, with the algorithm of its signature; its `exp` is in the future. */
export type Verified = { readonly ok: true; readonly payload: Payload; readonly algorithm: unknown } | Unauthenticated;

/** Keys are imported once and kept. */
export class SignatureVerifier {
  readonly #keys: TokenKeys;
  #secretKeys: ReadonlyArray<Promise<CryptoKey>> | undefined;
  #publicKey: Promise<PublicKey> | undefined;
  readonly #keySet: KeySet | undefined;

  /** @param keySetOf the key set at an address */
  constructor(keys: TokenKeys, keySetOf = keySetAt) {
    this.#keys = keys;
    this.#keySet = keys.jwksUrl === undefined ? undefined : keySetOf(keys.jwksUrl);
  }

  /** Another object for other keys; `undefined` where they have to be fetched. */
  get freshKeys(): object | undefined {
    return this.#keySet ? this.#keySet.fresh : this.#keys;
  }

  async verify(token: string): Promise<Verified> {
    const { secrets, publicKey } = this.#keys;
    if (secrets.length === 0 && publicKey === undefined && !this.#keySet)
      return unauthorized("No token is accepted here: the server has no key to verify one");
    if (token.length > TOKEN_LENGTH_MAX) return unauthorized("The token is too long");
    try {
      const { payload, protectedHeader } = await this.#read(token);
      const { exp } = payload;
      // Without the leeway that other times have.
      if (typeof exp === "number" && exp * 1000 <= Date.now()) return expired();
      return { ok: true, payload, algorithm: protectedHeader.alg };
    } catch (error) {
      if (error instanceof JWTExpired) return expired();
      if (error instanceof JWTClaimValidationFailed)
        return unauthorized(`The token's claim ${error.claim} is not accepted`);
      if (error instanceof KeysUnavailable) {
        const { message, retryAfterMs } = error;
        return { ok: false, code: "UNAVAILABLE", message, retryAfterMs };
      }
      if (error instanceof JOSEError) return unauthorized("The token is not valid");
      // A key of the server is at fault, not the bearer; the token is refused all the same.
      logProblem("token.unverified", "a token could not be verified", error);
      return unauthorized("The token could not be verified");
    }
  }

  /** Each algorithm is tied to its own kind of key: a public key never serves as an HMAC secret. */
  async #read(token: string): Promise<JWTVerifyResult> {
    const { secrets, publicKey, issuer, audience } = this.#keys;
    const expected = {
      clockTolerance: CLOCK_LEEWAY_SECONDS,
      ...(issuer && { issuer }),
      ...(audience && { audience }),
    };
    if (algorithmOf(token) === "HS256") {
      if (secrets.length === 0) throw new JOSEAlgNotAllowed("no secret is set");
      const keys = (this.#secretKeys ??= secrets.map(importSecret));
      return verifyByAny(keys, (key) => jwtVerify(token, key, { ...expected, algorithms: ["HS256"] }));
    }
    if (publicKey !== undefined) {
      const { key, algorithm } = await (this.#publicKey ??= importPublicKey(publicKey));
      return jwtVerify(token, key, { ...expected, algorithms: [algorithm] });
    }
    if (!this.#keySet) throw new JOSEAlgNotAllowed("no public key is set");
    return jwtVerify(token, this.#keySet.keyOf, { ...expected, algorithms: [...PUBLIC_ALGORITHMS] });
  }
}

/** Tries the keys in turn. @throws the error of the last key where none fits */
async function verifyByAny(
  keys: ReadonlyArray<Promise<CryptoKey>>,
  verify: (key: CryptoKey) => Promise<JWTVerifyResult>,
): Promise<JWTVerifyResult> {
  const [key, ...others] = keys;
  try {
    return await verify(await key!);
  } catch (error) {
    if (others.length === 0 || !(error instanceof JWSSignatureVerificationFailed)) throw error;
    return verifyByAny(others, verify);
  }
}

/** Imported once: given as bytes, it would be imported again for every token, which costs more than to verify one. */
function importSecret(secret: string): Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/** The algorithm a token claims; only ever used to choose which of our own keys is asked. */
function algorithmOf(token: string): unknown {
  try {
    return (decodeJson(token.split(".", 1)[0]!) as { readonly alg?: unknown }).alg;
  } catch {
    throw new JWTInvalid("unreadable header");
  }
}

function expired(): Unauthenticated {
  return { ok: false, code: "TOKEN_EXPIRED", message: "The token has expired" };
}

export function unauthorized(message: string): Unauthenticated {
  return { ok: false, code: "UNAUTHORIZED", message };
}
