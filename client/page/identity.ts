// Who the reader is: the token of this tab, fetched from POST /api/guest or pasted by hand.
// Called by the page before it enters a room and when a room refuses the token.
import { keep, readKept } from "./kept.ts";

const KEY = "parley.token";
const session = (): Storage => sessionStorage;

/** The server gives no tokens to guests, so the reader has to bring one. */
export class TokenNeeded extends Error {
  override readonly name = "TokenNeeded";
}

interface Identity {
  readonly name: string;
  readonly token: string;
}

// Where the browser keeps nothing, a reader still stays the same guest until the page is left.
let current: Identity | undefined;

/** The token that this tab used last under the same name. */
export function keptToken(name: string): string | undefined {
  current ??= readIdentity();
  return current?.name === name ? current.token : undefined;
}

export function keepToken(name: string, token: string): void {
  current = { name, token };
  keep(session, KEY, current);
}

function readIdentity(): Identity | undefined {
  const kept = readKept(session, KEY) as { name?: unknown; token?: unknown } | undefined;
  if (typeof kept?.name !== "string" || typeof kept.token !== "string") return undefined;
  return { name: kept.name, token: kept.token };
}

/** Fetches a new token and keeps it. The message of a rejection is fit to be shown. */
export async function fetchGuestToken(name: string): Promise<string> {
  const response = await requestGuest(name);
  if (response.status === 403) throw new TokenNeeded("This server does not admit guests. Paste a token to join.");
  const body = (await response.json().catch(() => undefined)) as
    | { token?: unknown; error?: { message?: unknown } }
    | undefined;
  if (response.ok && typeof body?.token === "string") {
    keepToken(name, body.token);
    return body.token;
  }
  const reason = typeof body?.error?.message === "string" ? body.error.message : `status ${response.status}`;
  throw new Error(`No guest token: ${reason}`);
}

async function requestGuest(name: string): Promise<Response> {
  try {
    return await fetch("/api/guest", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name }),
    });
  } catch {
    throw new Error("The server cannot be reached. Check your connection and try again.");
  }
}
