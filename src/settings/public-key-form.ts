// Checks the form of a public key without importing it, so that a key of the wrong kind stops the start and not each token.
// Called by kinds.ts; public-keys.ts imports the key later.

/** Object identifiers that name the kind of a key, in DER: rsaEncryption (RFC 8017), prime256v1 (RFC 5480), Ed25519 (RFC 8410). */
const KINDS = [
  [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01],
  [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
  [0x2b, 0x65, 0x70],
].map((identifier) => String.fromCharCode(0x06, identifier.length, ...identifier));

/** @param text a PEM (SPKI), its line breaks escaped or not, or a JWK as JSON */
export function isPublicKey(text: string): boolean {
  return text.trimStart().startsWith("{") ? isJwk(text) : isPem(text);
}

/** The bytes of a PEM, whose line breaks are often escaped in an environment variable. @throws for a text that is no base64 */
export function derOf(text: string): string {
  const lines = text.replaceAll("\\n", "\n");
  const [, base64] = /-----BEGIN PUBLIC KEY-----([^-]+)-----END PUBLIC KEY-----/.exec(lines) ?? [];
  return atob((base64 ?? "").replaceAll(/\s/g, ""));
}

function isPem(text: string): boolean {
  try {
    const der = derOf(text);
    return KINDS.some((kind) => der.includes(kind));
  } catch {
    return false;
  }
}

/** RFC 7518, section 6, and RFC 8037, section 2. */
function isJwk(text: string): boolean {
  try {
    const { kty, crv, d, n, e, x, y } = JSON.parse(text) as Record<string, unknown>;
    const has = (...parts: unknown[]): boolean => parts.every((part) => typeof part === "string" && part !== "");
    if (d !== undefined) return false;
    if (kty === "RSA") return has(n, e);
    if (kty === "EC") return crv === "P-256" && has(x, y);
    return kty === "OKP" && crv === "Ed25519" && has(x);
  } catch {
    return false;
  }
}
