// Asks the server how visitors may come in, sends a visitor to the sign-in page (`SIGN_IN_URL`), and reads what that page sends back. This
// browser puts a random state into the address to come back to: the chat store accepts a token only with such a state. It and page.tsx
// call this.
import type { Person } from "parley-rooms/client";

import type { Address } from "./address.ts";
import { keep, keyAt, local, readJson } from "./json-storage.ts";
import { t } from "./language.ts";

/** The answer of GET /api/guest/entrance. */
export interface Entrance {
  readonly guests: boolean;
  /** The sign-in page; `{return}` in it stands for the address to come back to. */
  readonly signIn?: string;
  /** The user whom the server knows without a token, by a cookie for example. */
  readonly user?: Person;
}

/** What the sign-in page has put into the address to come back to. */
export interface Returned {
  readonly state: string;
  /** Absent if the sign-in page has set a cookie. */
  readonly token?: string;
}

const STATE = "state";
const BEGUN_NAME = "parley.sign-in";
export const begunKey = (base: string): string => keyAt(base, BEGUN_NAME);
/** A visitor who needs longer signs in again. */
const BEGUN_MS = 60 * 60_000;
/** Tabs in which the visitor may begin to sign in; the browser forgets those of longest ago. */
const BEGUN_MAX = 10;

/** What the visitor came for. */
interface Begun extends Address {
  readonly state: string;
  readonly atMs: number;
}

export async function fetchEntrance(base: string): Promise<Entrance> {
  const response = await fetch(`${base}/api/guest/entrance`);
  if (!response.ok) throw new Error(t("The server answered with status {status}.", { status: response.status }));
  return (await response.json()) as Entrance;
}

/** Leaves the page for the sign-in page. */
export function goToSignIn(base: string, signIn: string, address: Address): void {
  const state = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  keep(local, begunKey(base), [...begunIn(base), { ...address, state, atMs: Date.now() }].slice(-BEGUN_MAX));
  const back = new URL(location.href);
  back.hash = "";
  back.searchParams.set(STATE, state);
  location.assign(signIn.replaceAll("{return}", encodeURIComponent(back.href)));
}

/** Takes a token and a state out of the address and the history of the tab, whether the sign-in page has put them there or somebody else. */
export function takeReturned(): Returned | undefined {
  const url = new URL(location.href);
  const token = /^#(?:.*&)?token=([^&]*)/.exec(url.hash)?.[1];
  const state = url.searchParams.get(STATE) ?? "";
  if (token === undefined && state === "") return undefined;
  url.searchParams.delete(STATE);
  if (token !== undefined) url.hash = "";
  history.replaceState(null, "", url);
  return { state, ...(token !== undefined && { token }) };
}

/** Forgets the state. @returns what the visitor came for; `undefined` if this browser did not make the state, or has forgotten it */
export function begunAt(base: string, state: string): Address | undefined {
  const all = begunIn(base);
  const begun = all.find((one) => one.state === state);
  const others = all.filter((one) => one !== begun);
  keep(local, begunKey(base), others.length === 0 ? undefined : others);
  return begun;
}

function begunIn(base: string): Begun[] {
  const kept = readJson(local, begunKey(base));
  const all: ReadonlyArray<Partial<Begun> | null> = Array.isArray(kept) ? kept : [];
  return all.filter((one): one is Begun => {
    const isWhole = typeof one?.state === "string" && typeof one.room === "string" && typeof one.atMs === "number";
    const isLink = one?.message === undefined || typeof one.message === "string";
    return isWhole && isLink && Date.now() - one.atMs < BEGUN_MS;
  });
}
