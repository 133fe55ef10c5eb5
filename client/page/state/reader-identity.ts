// The identity of the reader: a token, fetched from POST /api/guest, brought from the sign-in page or pasted by hand. It stays in this
// browser, for all its tabs, until the reader signs out. The chat store and the embedded room call this.
import { claimsOf, type Inheritance, type RefusalCode } from "parley-rooms/client";

import { keep, keyAt, local, readJson, type Unchecked } from "./json-storage.ts";
import { t } from "./language.ts";

const NAME = "parley.token";
/** The form of ids that POST /api/guest gives. */
const GUEST = /^guest-[0-9a-f]{16}$/;
export const isGuest = (user: string): boolean => GUEST.test(user);
/** Former guest users that are remembered. */
const FORMER_MAX = 10;

/** The server admits no guests, so the reader has to paste a token. */
export class TokenNeeded extends Error {
  override readonly name = "TokenNeeded";
}

/** Where a room view gets its tokens from. */
export interface TokenSource {
  readonly current: () => Promise<string> | string;
  /** Replaces a refused token; rejects with `TokenNeeded` when only the reader can. */
  readonly renew: (refused: RefusalCode) => Promise<unknown>;
}

export interface Identity {
  readonly name: string;
  /** Empty where the server knows the reader by a cookie. */
  readonly token: string;
  /** Their id, where the room named another one than the token's `sub` (`CLAIM_USER`). */
  readonly user?: string;
  /** Whether the server issues guest tokens. */
  readonly isGuest?: boolean;
  /** Former guest users of this reader, under the same name: long after a token's end, the server gives another user. */
  readonly formerly?: readonly string[];
}

/** The reader's id, unless the server alone knows it. */
export const userOf = (identity: Identity | undefined): string | undefined =>
  identity?.user ?? claimsOf(identity?.token ?? "")?.user;

/** The reader of one chat, as this browser knows them. */
export class ReaderIdentity {
  readonly #base: string;
  readonly #key: string;
  // Where the browser stores nothing, a reader still stays the same guest until the page is left.
  #current: Identity | undefined;
  #isStored = false;

  /** @param base the chat's address */
  constructor(base: string) {
    this.#base = base;
    this.#key = keyAt(base, NAME);
  }

  /** The stored identity: a tab keeps its user even when another tab signs in as another user. */
  get kept(): Identity | undefined {
    if (this.#current) return this.#current;
    this.#current = this.#read();
    this.#isStored = this.#current !== undefined;
    return this.#current;
  }

  /** As the browser has it now: in another tab somebody may have signed out, or in. */
  get newest(): Identity | undefined {
    return this.#read();
  }

  /** The token that was used last under the same name. */
  token(name: string): string | undefined {
    return this.kept?.name === name ? this.kept.token : undefined;
  }

  keep(identity: Identity): void {
    this.#current = identity;
    keep(local, this.#key, identity);
    this.#isStored = this.#read() !== undefined;
  }

  /** The room has named the user of the token. */
  welcomed(user: string): void {
    const { kept, newest } = this;
    const isTheirs = kept && !kept.isGuest && kept.token !== "" && kept.token === newest?.token;
    if (isTheirs && userOf(kept) !== user) this.keep({ ...kept, user });
  }

  /** Stores the token of a guest. Their former user is remembered as theirs, with its unsent messages. */
  keepGuest(name: string, token: string, kept = this.guest(name)): void {
    const before = kept && claimsOf(kept.token)?.user;
    const isOther = before !== undefined && before !== claimsOf(token)?.user;
    const formerly = [...(kept?.formerly ?? []), ...(isOther ? [before] : [])].slice(-FORMER_MAX);
    this.keep({ name, token, isGuest: true, formerly });
  }

  guest(name: string): Identity | undefined {
    const { kept } = this;
    return kept?.name === name && kept.isGuest === true ? kept : undefined;
  }

  /** Another user's unsent messages: those of this guest's former users are sent, those of other guests only if the reader agrees. */
  inheritanceOf(user: string): Inheritance {
    if (this.kept?.formerly?.includes(user)) return "send";
    return isGuest(user) ? "ask" : "leave";
  }

  /** Whether somebody else has signed in in another tab since: what the browser keeps for its reader is theirs then. */
  get isReplaced(): boolean {
    const [kept, newest] = [this.#current, this.#read()];
    if (!kept || !newest) return false;
    const user = claimsOf(kept.token)?.user;
    const isSame = user === claimsOf(newest.token)?.user || (user !== undefined && newest.formerly?.includes(user));
    return !isSame;
  }

  /** Whether the reader has signed out in another tab, as far as the browser stores who they are. */
  get isGone(): boolean {
    return this.#isStored && this.#read() === undefined;
  }

  forget(): void {
    if (!this.isReplaced) keep(local, this.#key, undefined);
    this.#current = undefined;
    this.#isStored = false;
  }

  /** A guest goes on under another name, as the same user where the server still knows them. The message of a rejection is fit to be shown. */
  async rename(name: string): Promise<void> {
    const { kept } = this;
    this.keepGuest(name, await fetchGuestToken(this.#base, name, kept?.token), kept);
  }

  /** The guest has chosen another name in another tab. @returns that name */
  adoptName(): string | undefined {
    const [kept, newest] = [this.#current, this.#read()];
    const isSame = kept?.isGuest && newest?.isGuest && claimsOf(kept.token)?.user === claimsOf(newest.token)?.user;
    if (!isSame || kept.name === newest.name) return undefined;
    this.#current = newest;
    return newest.name;
  }

  /** Another token for the reader of that name: another tab's newer one, or a new guest token. @throws TokenNeeded */
  async renew(name: string): Promise<string> {
    const newer = this.#adoptNewer(name);
    if (newer !== undefined) return newer;
    const { kept } = this;
    // A reader who brought a token must not become a guest silently.
    if (kept?.name === name && !kept.isGuest) throw new TokenNeeded(t("Your token is not accepted any more."));
    const token = await fetchGuestToken(this.#base, name, this.guest(name)?.token);
    this.keepGuest(name, token);
    return token;
  }

  /** Another tab may have fetched the next token of the same reader. */
  #adoptNewer(name: string): string | undefined {
    const newest = this.#read();
    if (newest?.name !== name || newest.token === this.#current?.token) return undefined;
    this.#current = newest;
    return newest.token;
  }

  #read(): Identity | undefined {
    const kept = readJson(local, this.#key) as Unchecked<Identity> | undefined;
    if (typeof kept?.name !== "string" || typeof kept.token !== "string") return undefined;
    const former: readonly unknown[] = Array.isArray(kept.formerly) ? kept.formerly : [];
    const formerly = former.filter((user) => typeof user === "string");
    const user = typeof kept.user === "string" && { user: kept.user };
    return { name: kept.name, token: kept.token, ...user, isGuest: kept.isGuest === true, formerly };
  }
}

/**
 * A token for a visitor of that name. The message of a rejection is fit to be shown.
 * @param former the token that the guest had before: they stay the same user where the server still knows it
 */
export async function fetchGuestToken(base: string, name: string, former?: string): Promise<string> {
  const response = await requestGuest(base, name, former);
  if (response.status === 401 && former !== undefined) return fetchGuestToken(base, name);
  if (response.status === 403) throw new TokenNeeded(t("This server does not admit guests. Paste a token to join."));
  const body = (await response.json().catch(() => undefined)) as
    | { token?: unknown; error?: { message?: unknown } }
    | undefined;
  if (response.ok && typeof body?.token === "string") return body.token;
  if (response.status === 400) throw new Error(t("This name cannot be used. Choose another one."));
  const reason = typeof body?.error?.message === "string" ? body.error.message : `status ${response.status}`;
  throw new Error(t("You cannot join now: {reason}", { reason }));
}

async function requestGuest(base: string, name: string, former: string | undefined): Promise<Response> {
  const authorization = former === undefined ? {} : { authorization: `Bearer ${former}` };
  try {
    return await fetch(`${base}/api/guest`, {
      method: "POST",
      headers: { "content-type": "application/json", ...authorization },
      body: JSON.stringify({ name }),
    });
  } catch {
    throw new Error(t("The server cannot be reached. Check your connection and try again."));
  }
}
