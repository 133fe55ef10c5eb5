// The users of tokens, and the check of the results of an application's `verify`. Called by socketio-object.ts.
import { isUnauthenticated } from "../../protocol/identity.ts";
import { roomAllowed } from "../../protocol/room-name.ts";
import type { Identity } from "../engine/session.ts";
import type { Authentication, TokenPorts } from "../server/token-life.ts";

/** Why a token is refused. With `UNAVAILABLE` it may be sent again after `retryAfterMs`, otherwise another one is needed. */
export type TokenRefusal = Extract<Authentication, { ok: false }>;

/** Fields besides these reach the namespaces as they are. */
export interface TokenUser {
  /** User id. */
  readonly user: string;
  /** Display name. Default: the user id. */
  readonly name?: string;
  /** The end of the token, in seconds since 1970. Default: never. */
  readonly exp?: number;
  /** Names of rooms, or prefixes ending in `*`. Default: every room. */
  readonly rooms?: readonly string[];
}

/** @returns the user of a token, why it is refused, or `undefined` for one that is no good */
export type VerifyToken = (
  token: string,
  room: string,
) => TokenUser | TokenRefusal | undefined | Promise<TokenUser | TokenRefusal | undefined>;

/**
 * @param object without `verify` it needs no token
 * @throws Error for a `verify` that is no function: no mistake in it may let everybody in
 */
export function tokenPorts(room: string, object: { readonly verify?: VerifyToken | undefined }): TokenPorts {
  const { verify } = object;
  if (verify !== undefined && typeof verify !== "function") throw new Error("verify: must be a function");
  return {
    room,
    opens: ({ rooms }: Identity & Pick<TokenUser, "rooms">) => roomAllowed(rooms, room),
    authenticate: verify && (async (token) => authenticationOf(await object.verify!(token, room))),
  };
}

const REFUSED: TokenRefusal = { ok: false, code: "UNAUTHORIZED", message: "The token is not valid" };

/** @throws Error for a value that is neither user nor refusal, such as `true` or a Response: no mistake in `verify` may let a client in */
function authenticationOf(verified: TokenUser | TokenRefusal | undefined): Authentication {
  if (!verified) return REFUSED;
  if (isUnauthenticated(verified)) return verified;
  const { user, name, exp } = verified as { readonly [Field in keyof TokenUser]: unknown };
  if (typeof user !== "string" || user === "") throw new Error("verify gave no user: user: must be a text");
  // With NaN no socket of the object would end with its token.
  if (exp !== undefined && !(typeof exp === "number" && !Number.isNaN(exp)))
    throw new Error("verify gave no user: exp: must be a number");
  return { ok: true, identity: { ...verified, user, name: typeof name === "string" ? name : user } };
}
