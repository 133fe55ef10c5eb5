// jwt: verifies the JSON Web Tokens of clients for a SocketIoObject. Called in its field `verify`; an object without it bundles nothing of this.
import { SignatureVerifier, unauthorized, type Payload } from "../../settings/tokens/signatures.ts";
import type { TokenRefusal, TokenUser, VerifyToken } from "./token-users.ts";

/** The keys: one at least. HS256 by `secret`; RS256, ES256 and EdDSA by one of the others. */
export interface JwtOptions {
  /** The current one, and perhaps the one before it. At least 32 characters each. */
  readonly secret?: string | readonly string[] | undefined;
  /** PEM (SPKI) or JWK. */
  readonly publicKey?: string | undefined;
  /** The address of a key set; fetched keys are kept in the isolate. */
  readonly jwksUrl?: string | undefined;
  /** The claim `iss`, where it must be there. */
  readonly issuer?: string | undefined;
  /** The claim `aud`, where it must be there. */
  readonly audience?: string | undefined;
  /** Accepts tokens without `exp`. Default: refuses them. */
  readonly allowUnexpiring?: boolean | undefined;
}

const SECRET_CHARS_MIN = 32;
const USER_CHARS_MAX = 128;

/**
 * The user of a token is its claim `sub`, the name its `name` or else the user id; `rooms` lists the rooms that it opens. All claims reach
 * the namespaces with `identity`.
 * @throws Error without a key, or for a secret that is too short
 */
export function jwt({ secret = [], allowUnexpiring = false, ...keys }: JwtOptions): VerifyToken {
  const secrets = typeof secret === "string" ? [secret] : secret;
  if (secrets.length === 0 && keys.publicKey === undefined && keys.jwksUrl === undefined)
    throw new Error("jwt: it needs a secret, a publicKey or a jwksUrl");
  if (secrets.some(({ length }) => length < SECRET_CHARS_MIN))
    throw new Error(`jwt: a secret has at least ${SECRET_CHARS_MIN} characters`);
  const verifier = new SignatureVerifier({ ...keys, secrets });
  return async (token) => {
    const verified = await verifier.verify(token);
    return verified.ok ? userOf(verified.payload, allowUnexpiring) : verified;
  };
}

function userOf(payload: Payload, allowUnexpiring: boolean): TokenUser | TokenRefusal {
  const { name, ...claims } = payload;
  const { sub: user, exp, rooms } = claims;
  if (typeof user !== "string" || user === "" || user.length > USER_CHARS_MAX)
    return unauthorized(`The token's claim sub: must be a text of 1 to ${USER_CHARS_MAX} characters`);
  if (exp === undefined && !allowUnexpiring) return unauthorized("The token has no exp claim");
  if (exp !== undefined && typeof exp !== "number") return unauthorized("The token's claim exp: must be a number");
  if (rooms !== undefined && !isListOfTexts(rooms))
    return unauthorized("The token's claim rooms: must be a list of texts");
  return { ...claims, user, ...(typeof name === "string" && name !== "" && { name }) };
}

const isListOfTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");
