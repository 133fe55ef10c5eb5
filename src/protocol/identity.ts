// The identity that a verified token gives: the Worker vouches for it, rooms use it. Where a token is refused, the reason.
import type { TokenCode } from "./failures.ts";
import type { Role } from "./chat-events.ts";

export interface Identity {
  /** User id, 1 to 128 characters. */
  readonly user: string;
  /** Display name, at most 64 characters. */
  readonly name: string;
  readonly role: Role;
  /** Room names, or prefixes ending in `*`; absent: every room. */
  readonly rooms?: readonly string[];
  /** The token is a guest's, which anyone may ask for (POST /api/guest). */
  readonly isGuest?: true;
  /** The end of the token, in seconds since 1970 as in its `exp` claim; absent: never. */
  readonly exp?: number;
}

/** The result of verifying a token. Expired and wrong differ: a client can replace an expired one by itself. */
export type Authentication = { readonly ok: true; readonly identity: Identity } | Unauthenticated;

export interface Unauthenticated {
  readonly ok: false;
  /** `UNAVAILABLE`: the server cannot load the keys at the moment, so it does not know whether the token is valid (TOK-5). */
  readonly code: TokenCode | "UNAVAILABLE";
  readonly message: string;
  /** Set with `UNAVAILABLE`. */
  readonly retryAfterMs?: number;
}

/** Tells a refusal from a user, whose own fields may have the same names: a user has `user`. */
export function isUnauthenticated(given: unknown): given is Unauthenticated {
  if (typeof given !== "object" || given === null) return false;
  const { user, ok, code, message } = given as Partial<Unauthenticated> & { readonly user?: unknown };
  return user === undefined && ok === false && typeof message === "string" && CODES.has(code);
}

const CODES: ReadonlySet<unknown> = new Set<Unauthenticated["code"]>(["UNAUTHORIZED", "TOKEN_EXPIRED", "UNAVAILABLE"]);
