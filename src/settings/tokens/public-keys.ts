// Imports the public keys that verify tokens: RSA, P-256 and Ed25519. Called by SignatureVerifier for JWT_PUBLIC_KEY, and by KeySet.
import type { CryptoKey, JWK } from "jose";

import { derOf } from "../public-key-form.ts";

/** By the kind of a public key (`kty`), the one algorithm that it serves here, and that of the Web Cryptography API. */
const KINDS = new Map<unknown, readonly [algorithm: string, imported: object]>([
  ["RSA", ["RS256", { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }]],
  ["EC", ["ES256", { name: "ECDSA", namedCurve: "P-256" }]],
  ["OKP", ["EdDSA", { name: "Ed25519" }]],
]);

export const PUBLIC_ALGORITHMS: readonly string[] = [...KINDS.values()].map(([algorithm]) => algorithm);

export interface PublicKey {
  readonly key: CryptoKey;
  readonly algorithm: string;
}

/** @throws Error for a key of another kind, a private one, or one that cannot be read */
export async function importJwk(jwk: JWK): Promise<PublicKey> {
  // The key itself says which algorithm it is for; its other fields are for those who choose a key.
  const { kty, crv, n, e, x, y, d } = jwk;
  const kind = KINDS.get(kty);
  if (!kind || d !== undefined) throw new Error("not a public RSA, EC or OKP key");
  const [algorithm, imported] = kind;
  const key = await crypto.subtle.importKey("jwk", { kty, crv, n, e, x, y } as JsonWebKey, imported as never, false, [
    "verify",
  ]);
  return { key, algorithm };
}

/**
 * Takes a PEM (SPKI), its line breaks escaped or not, or a JWK as JSON.
 * @throws Error for a text that is none of a public key
 */
export async function importPublicKey(text: string): Promise<PublicKey> {
  if (text.trimStart().startsWith("{")) return importJwk(JSON.parse(text) as JWK);
  const der = Uint8Array.from(derOf(text), (char) => char.charCodeAt(0));
  for (const [algorithm, imported] of KINDS.values()) {
    try {
      return { key: await crypto.subtle.importKey("spki", der, imported as never, false, ["verify"]), algorithm };
    } catch {
      continue;
    }
  }
  throw new Error("JWT_PUBLIC_KEY: neither a PEM (SPKI) nor a JWK of an RSA, P-256 or Ed25519 key");
}
