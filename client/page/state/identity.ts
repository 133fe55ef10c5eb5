// Who the reader is: the token of this tab, fetched from POST /api/guest or pasted by hand. It stays in the storage of the tab,
// never in an address.
import type { Inheritance } from "../../api.ts";
import { claimsOf } from "../../claims.ts";
import { keep, readKept } from "./kept.ts";

const KEY = "parley.token";
const session = (): Storage => sessionStorage;
/** As POST /api/guest makes the ids of guests. */
const GUEST = /^guest-[0-9a-f]{16}$/;
export const isGuest = (user: string): boolean => GUEST.test(user);
/** Guests that a tab remembers to have been. */
const FORMER_MAX = 10;

/** The server gives no tokens to guests, so the reader has to bring one. */
export class TokenNeeded extends Error {
  override readonly name = "TokenNeeded";
}

export interface Identity {
  readonly name: string;
  readonly token: string;
  /** Whether the server gives another one to whoever asks. */
  readonly isGuest?: boolean;
  /** The guests that this tab was before, under the same name: a token that ended is followed by one for another user. */
  readonly formerly?: readonly string[];
}

// Where the browser keeps nothing, a reader still stays the same guest until the page is left.
let current: Identity | undefined;

/** Who this tab was the last time. */
export function keptIdentity(): Identity | undefined {
  return (current ??= readIdentity());
}

/** The token that this tab used last under the same name. */
export function keptToken(name: string): string | undefined {
  const kept = keptIdentity();
  return kept?.name === name ? kept.token : undefined;
}

export function keepToken(identity: Identity): void {
  current = identity;
  keep(session, KEY, current);
}

/** Another token for a guest, who stays the same person: what they wrote as the guest they were is theirs. */
export function keepGuest(name: string, token: string): void {
  const kept = keptIdentity();
  const isSame = kept?.name === name && kept.isGuest === true;
  const user = isSame ? claimsOf(kept.token)?.user : undefined;
  const formerly = [...((isSame && kept.formerly) || []), ...(user === undefined ? [] : [user])].slice(-FORMER_MAX);
  keepToken({ name, token, isGuest: true, formerly });
}

/** Guests do not come back: who comes after them is asked. Nobody sends what belongs to anybody else. */
export function inheritanceOf(user: string): Inheritance {
  if (keptIdentity()?.formerly?.includes(user)) return "send";
  return isGuest(user) ? "ask" : "leave";
}

export function forgetToken(): void {
  current = undefined;
  keep(session, KEY, undefined);
}

function readIdentity(): Identity | undefined {
  const kept = readKept(session, KEY) as { readonly [Key in keyof Identity]?: unknown } | undefined;
  if (typeof kept?.name !== "string" || typeof kept.token !== "string") return undefined;
  const former: readonly unknown[] = Array.isArray(kept.formerly) ? kept.formerly : [];
  const formerly = former.filter((user) => typeof user === "string");
  return { name: kept.name, token: kept.token, isGuest: kept.isGuest === true, formerly };
}

/** A token for a visitor of that name. The message of a rejection is fit to be shown. */
export async function fetchGuestToken(origin: string, name: string): Promise<string> {
  const response = await requestGuest(origin, name);
  if (response.status === 403) throw new TokenNeeded("This server does not admit guests. Paste a token to join.");
  const body = (await response.json().catch(() => undefined)) as
    | { token?: unknown; error?: { message?: unknown } }
    | undefined;
  if (response.ok && typeof body?.token === "string") return body.token;
  const reason = typeof body?.error?.message === "string" ? body.error.message : `status ${response.status}`;
  throw new Error(`No guest token: ${reason}`);
}

async function requestGuest(origin: string, name: string): Promise<Response> {
  try {
    return await fetch(`${origin}/api/guest`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name }),
    });
  } catch {
    throw new Error("The server cannot be reached. Check your connection and try again.");
  }
}
