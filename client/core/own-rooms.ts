// The user's own rooms with what is new in each, which the server's directory tells as soon as it changes (LOB-9); no room wakes for it. A tab
// in view asks for itself. One hidden tab asks for all hidden tabs; it keeps the directory waiting only if the user has turned notifications on.
// Called by applications, by client/react and by the page.
import type { FoundMessage, RefusalCode, SearchPayload } from "../../src/protocol/chat-events.ts";
import type { FoundIn } from "../../src/protocol/schemas/found-in.ts";
import type { JoinedRoom } from "../../src/protocol/schemas/unread.ts";
import type { CallOff, Token } from "./api.ts";
import { callApi, type ApiAnswer } from "./api-call.ts";
import { baseOf } from "./base.ts";
import { claimsOf } from "./claims.ts";

/** Rooms that a search asks, unless it names others: each may have to wake. */
export const ROOMS_SEARCHED = 20;
/** Rooms that are asked at once: the first results come soon, and a search that is called off wakes no more. */
const ASKED_AT_ONCE = 5;
/** The server waits so long for a change before it answers. */
const WAIT_SECONDS = 25;
/** From one question for what is new to the next: answers may come at once while much happens. */
export const NEWS_EVERY_MS = 1500;
/** The same while nobody sees the page, and the number in its title is all that changes. */
export const NEWS_UNSEEN_EVERY_MS = 60_000;
/** The same after a failure. */
const AFTER_FAILURE_MS = 5000;

export interface FollowOptions {
  /** As for `connectRoom`. */
  readonly token?: Token;
  /** Whether the user has turned notifications on: then a hidden page waits for news at the directory; otherwise it asks once a minute. */
  readonly isNotifying?: () => boolean;
}

export interface MentionsQuery {
  /** Messages before that one, by its `timestamp`. */
  readonly beforeTime?: number;
  readonly limit?: number;
  /** In that room alone. */
  readonly room?: string;
}

/** Messages that mention the user, newest first. `isComplete`: all of the rooms have looked through as much as the page needs. */
export type MentionsAnswer = ApiAnswer<{ readonly messages: readonly FoundMessage[]; readonly isComplete: boolean }>;

/** `before` is for a search in one room. */
export interface RoomsQuery extends SearchPayload {
  /** In these of the user's rooms, in that order. Default: in the 20 with the newest messages. */
  readonly rooms?: readonly string[];
  /** Ends the search; no more rooms are asked then. */
  readonly signal?: CallOff;
}

export interface OwnRooms {
  /** The rooms, the newest message first, as they are now; the same list until something changes. `undefined` until the server has answered. */
  readonly getSnapshot: () => readonly JoinedRoom[] | undefined;
  /** Calls the listener after changes. @returns a function that ends it */
  readonly subscribe: (listener: () => void) => () => void;
  /** Asks the user's 20 newest rooms, which may wake them. Never rejects. */
  mentions(query?: MentionsQuery): Promise<MentionsAnswer>;
  /**
   * Finds messages in the user's rooms, room by room, which may wake them: five messages of each, unless `limit` says how many. Never rejects: a room
   * that could not be searched comes with an `error`.
   */
  search(query: RoomsQuery): AsyncIterable<FoundIn>;
  close(): void;
}

/**
 * Follows the rooms in which the user has been until it is closed.
 * @param url the chat's address
 * @throws RangeError for an address that is none
 */
export const followRooms = (url: string, options: FollowOptions = {}): OwnRooms => new Follower(baseOf(url), options);

interface News {
  readonly rooms: readonly JoinedRoom[];
  readonly version: string;
}

interface Told extends News {
  readonly user: string;
}

class Follower implements OwnRooms {
  readonly #base: string;
  readonly #options: FollowOptions;
  readonly #listeners = new Set<() => void>();
  readonly #life = new AbortController();
  /** Ends with the view of the page. */
  #watching: AbortController | undefined;
  /** What one tab of the browser hears, all know. */
  #tabs: BroadcastChannel | undefined;
  /** The user of the newest token, as far as it tells: another tab may have another one. */
  #user = "";
  #news: News | undefined;

  constructor(base: string, options: FollowOptions) {
    this.#base = base;
    this.#options = options;
    const { signal } = this.#life;
    if (typeof document === "undefined") {
      void this.#follow(signal, true);
      return;
    }
    this.#tabs = new BroadcastChannel(`parley news ${base}`);
    this.#tabs.addEventListener("message", ({ data }: MessageEvent<Told>) => {
      if (data.user === this.#user) this.#take(data);
    });
    document.addEventListener("visibilitychange", () => this.#look(), { signal });
    // The back/forward cache takes no page with a request under way or a lock.
    addEventListener("pagehide", () => this.#watching?.abort(), { signal });
    addEventListener("pageshow", ({ persisted }) => persisted && this.#look(), { signal });
    this.#look();
  }

  readonly getSnapshot = (): readonly JoinedRoom[] | undefined => this.#news?.rooms;

  readonly subscribe = (listener: () => void): (() => void) => {
    const one = (): void => listener();
    this.#listeners.add(one);
    return () => void this.#listeners.delete(one);
  };

  mentions(query: MentionsQuery = {}): Promise<MentionsAnswer> {
    return this.#ask(`mentions?${paramsOf(query)}`, this.#life.signal);
  }

  async *search({ rooms, signal: given, ...sought }: RoomsQuery): AsyncGenerator<FoundIn> {
    const signal = AbortSignal.any([this.#life.signal, ...(given ? [given] : [])]);
    const left = [...(rooms ?? (await this.#newest(signal)))];
    while (left.length > 0 && !signal.aborted) {
      const asked = left.splice(0, ASKED_AT_ONCE);
      const query = paramsOf({ rooms: asked.join(","), ...sought });
      const answer = await this.#ask<{ readonly rooms: readonly FoundIn[] }>(`search?${query}`, signal);
      if (signal.aborted) return;
      // What refuses one call refuses the next one, too.
      if ("error" in answer) yield* [...asked, ...left.splice(0)].map((room) => ({ room, error: answer.error }));
      else yield* answer.rooms;
    }
  }

  /** The rooms with the newest messages, as soon as the server has listed them. */
  async #newest(signal: AbortSignal): Promise<readonly string[]> {
    while (!this.#news && !signal.aborted)
      await new Promise<void>((resolve) => {
        const end = this.subscribe(() => (end(), resolve()));
        signal.addEventListener("abort", () => (end(), resolve()), { once: true });
      });
    return (this.#news?.rooms ?? []).slice(0, ROOMS_SEARCHED).map(({ room }) => room);
  }

  close(): void {
    this.#life.abort();
    this.#watching?.abort();
    this.#tabs?.close();
  }

  #look(): void {
    this.#watching?.abort();
    this.#watching = new AbortController();
    const { signal } = this.#watching;
    if (document.visibilityState === "visible") return void this.#follow(signal, true);
    void this.#followUnseen(signal);
  }

  async #followUnseen(signal: AbortSignal): Promise<void> {
    // There are none on pages without HTTPS: there each tab asks.
    const { locks } = navigator as { readonly locks?: LockManager };
    if (!locks) return this.#follow(signal, false);
    try {
      await this.#token();
      const lock = `parley news ${this.#base} ${this.#user}`;
      await locks.request(lock, { signal }, () => this.#follow(signal, false));
    } catch {
      // The page is seen again, or there is no token.
    }
  }

  async #follow(signal: AbortSignal, isSeen: boolean): Promise<void> {
    while (!signal.aborted) {
      const beganAtMs = Date.now();
      const isAwaited = isSeen || (this.#options.isNotifying?.() ?? false);
      const { version = "" } = this.#news ?? {};
      const waitSeconds = isAwaited && version !== "" ? WAIT_SECONDS : 0;
      const answer = await this.#ask<News>(`unread?wait=${waitSeconds}&since=${encodeURIComponent(version)}`, signal);
      if (signal.aborted) return;
      const isGood = !("error" in answer);
      if (isGood) {
        const { rooms, version } = answer;
        this.#take({ rooms, version });
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel of this origin, and no window
        this.#tabs?.postMessage({ rooms, version, user: this.#user } satisfies Told);
      }
      const soonMs = isGood ? NEWS_EVERY_MS : AFTER_FAILURE_MS;
      await pause(beganAtMs + (isAwaited ? soonMs : NEWS_UNSEEN_EVERY_MS) - Date.now(), signal);
    }
  }

  /** An answer also comes where nothing has changed, from this tab or another one. */
  #take({ rooms, version }: News): void {
    const known = this.#news?.rooms;
    // Not all that changes in a room makes another version.
    const isNew = JSON.stringify(rooms) !== JSON.stringify(known);
    this.#news = { rooms: isNew ? rooms : known!, version };
    if (isNew) for (const listener of this.#listeners) listener();
  }

  async #token(refused?: RefusalCode): Promise<string> {
    const { token = "" } = this.#options;
    const now = typeof token === "function" ? await token(refused) : token;
    this.#user = claimsOf(now)?.user ?? "";
    return now;
  }

  #ask<Good extends object>(path: string, signal: AbortSignal): Promise<ApiAnswer<Good>> {
    return callApi<Good>(this.#base, path, { token: (refused) => this.#token(refused), signal });
  }
}

/** Without what is undefined. */
function paramsOf(query: object): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  return params;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.max(0, ms));
    signal.addEventListener("abort", end);
  });
}
