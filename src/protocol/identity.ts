// Who somebody is, once a token was believed: what the Worker vouches for and a room works with.
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
  /** Whether the token is one of those that anybody may ask for (POST /api/guest). */
  readonly isGuest?: true;
  /** When the token ends, in seconds since 1970 as in its `exp` claim; absent: never. */
  readonly exp?: number;
}

/** A token's fate. Expired is told apart from wrong: a client can mend the first by itself. */
export type Authentication = { readonly ok: true; readonly identity: Identity } | Unauthenticated;

export interface Unauthenticated {
  readonly ok: false;
  /** `UNAVAILABLE` is no fate yet: the keys cannot be had just now (TOK-5). */
  readonly code: TokenCode | "UNAVAILABLE";
  readonly message: string;
  /** With `UNAVAILABLE`. */
  readonly retryAfterMs?: number;
}
