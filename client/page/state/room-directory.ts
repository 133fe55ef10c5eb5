// The reader's rooms: what is new in each, which the lobby tells as soon as it changes (LOB-9), and, while the page is in view, the list of all
// rooms. No room wakes for either. Out of view one tab of the browser asks for all, and only a reader who wants to be told keeps the lobby
// waiting. Remembers in this browser which rooms the reader has entered or left. The chat store owns one.
import type { FoundMessage, RoomOverview } from "parley-rooms/client";

import { keep, keyAt, local, readJson } from "./json-storage.ts";
import type { JoinedRoom } from "./room-items.ts";

export const SEEN_NAME = "parley.seen";
export const LEFT_NAME = "parley.left";
const LIST_EVERY_MS = 15_000;
/** The server waits so long for a change before it answers. */
const WAIT_SECONDS = 25;
/** From one question for what is new to the next: answers may come at once while much happens. */
export const NEWS_EVERY_MS = 1500;
/** The same while nobody sees the page, and the number in its title is all that changes. */
export const NEWS_UNSEEN_EVERY_MS = 60_000;
/** The same after a failure. */
const AFTER_FAILURE_MS = 5000;
/** Messages that mention the reader, in one answer. */
export const MENTIONS_LIMIT = 30;
const ROOMS_LIMIT = 200;
/** Rooms that are remembered, of those entered and of those left; those of longest ago are forgotten. */
const REMEMBERED_MAX = 100;

/** By room, the one entered or left last comes last. For one left, the `seq` of its newest message then; for one entered, nothing. */
type Remembered = Readonly<Record<string, number>>;

interface DirectoryPorts {
  /** The chat's address. */
  readonly base: string;
  readonly token: () => Promise<string> | string;
  readonly changed: () => void;
  /** Whether the reader wants to be told at once also while the page is out of view. */
  readonly isTelling: () => boolean;
}

/** Messages that mention the reader, the newest first. */
interface Mentions {
  readonly messages: readonly FoundMessage[];
  readonly isComplete: boolean;
}

interface News {
  readonly rooms: readonly JoinedRoom[];
  readonly version: string;
}

export class RoomDirectory {
  listed: readonly RoomOverview[] = [];
  /** As the server knows them; `undefined` before it answered. */
  joined: readonly JoinedRoom[] | undefined;
  /** Whether the server lets this reader list rooms at all; unknown before it answered. */
  isListable: boolean | undefined;
  readonly #ports: DirectoryPorts;
  #seen: Remembered;
  #left: Remembered;
  #version = "";
  /** Ends with the view of the page. */
  #watching: AbortController | undefined;
  readonly #life = new AbortController();
  /** What one tab hears, all know. */
  readonly #tabs: BroadcastChannel;

  constructor(ports: DirectoryPorts) {
    this.#ports = ports;
    this.#tabs = new BroadcastChannel(`parley news ${ports.base}`);
    this.#tabs.addEventListener("message", ({ data }: MessageEvent<News>) => this.#take(data));
    [this.#seen, this.#left] = [this.#read(SEEN_NAME), this.#read(LEFT_NAME)];
    document.addEventListener("visibilitychange", () => this.#look(), { signal: this.#life.signal });
    this.#look();
  }

  /** Rooms that the reader has entered in this browser and not left since, the last one last. */
  get entered(): readonly string[] {
    return Object.keys(this.#seen);
  }

  /** The rooms of the reader that they have not left in this browser. A person who writes again is there again. */
  get own(): readonly JoinedRoom[] {
    const isLeft = ({ room, direct, lastSeq }: JoinedRoom): boolean =>
      Object.hasOwn(this.#left, room) && !(direct && lastSeq > this.#left[room]!);
    return (this.joined ?? []).filter((joined) => !isLeft(joined));
  }

  enter(room: string): void {
    this.#seen = this.#kept(SEEN_NAME, withRoom(this.#seen, room));
    if (Object.hasOwn(this.#left, room)) this.#left = this.#kept(LEFT_NAME, without(this.#left, room));
  }

  /** @param lastSeq the newest message, as the room says: the list may be behind */
  forget(room: string, lastSeq: number): void {
    const listed = this.joined?.find((joined) => joined.room === room)?.lastSeq ?? 0;
    this.#seen = this.#kept(SEEN_NAME, without(this.#seen, room));
    this.#left = this.#kept(LEFT_NAME, withRoom(this.#left, room, Math.max(lastSeq, listed)));
    this.#ports.changed();
  }

  /** Asks the rooms themselves, the newest 20. @returns the status of a refusal; `undefined` offline */
  mentions(where: { readonly beforeTime?: number; readonly room?: string; readonly limit?: number } = {}) {
    const query = new URLSearchParams(
      Object.entries({ limit: MENTIONS_LIMIT, ...where }).map(([name, value]) => [name, `${value}`]),
    );
    return this.#fetch<Mentions>(`mentions?${query}`, this.#life.signal);
  }

  close(): void {
    this.#life.abort();
    this.#watching?.abort();
    this.#tabs.close();
  }

  #look(): void {
    this.#watching?.abort();
    this.#watching = new AbortController();
    const { signal } = this.#watching;
    const isSeen = document.visibilityState === "visible";
    if (!isSeen) return void this.#followUnseen(signal);
    void this.#followNews(signal, isSeen);
    void this.#followList(signal);
  }

  async #followUnseen(signal: AbortSignal): Promise<void> {
    const { locks } = navigator as { readonly locks?: LockManager };
    if (!locks) return this.#followNews(signal, false);
    const lock = `parley news ${this.#ports.base}`;
    await locks.request(lock, { signal }, () => this.#followNews(signal, false)).catch(() => {});
  }

  async #followNews(signal: AbortSignal, isSeen: boolean): Promise<void> {
    while (!signal.aborted) {
      const beganAtMs = Date.now();
      const isAwaited = isSeen || this.#ports.isTelling();
      const query = `wait=${isAwaited && this.#version !== "" ? WAIT_SECONDS : 0}&since=${encodeURIComponent(this.#version)}`;
      const answer = await this.#fetch<News>(`unread?${query}`, signal);
      if (signal.aborted) return;
      if (typeof answer === "object") {
        this.#take(answer);
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel of this origin, and no window
        this.#tabs.postMessage(answer);
      }
      const soon = typeof answer === "object" ? NEWS_EVERY_MS : AFTER_FAILURE_MS;
      await pause(beganAtMs + (isAwaited ? soon : NEWS_UNSEEN_EVERY_MS) - Date.now(), signal);
    }
  }

  #take({ rooms, version }: News): void {
    this.joined = rooms;
    this.#version = version;
    this.#ports.changed();
  }

  async #followList(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.isListable !== false) {
      const answer = await this.#fetch<{ rooms: readonly RoomOverview[] }>(`rooms?limit=${ROOMS_LIMIT}`, signal);
      if (signal.aborted) return;
      if (answer === 403) this.isListable = false;
      if (typeof answer === "object") {
        this.listed = answer.rooms;
        this.isListable = true;
      }
      this.#ports.changed();
      await pause(LIST_EVERY_MS, signal);
    }
  }

  /** @returns the status of a refusal; `undefined` offline, where the lists stay as they were */
  async #fetch<Body>(call: string, signal: AbortSignal): Promise<Body | number | undefined> {
    const { base, token } = this.#ports;
    try {
      const bearer = await token();
      const headers: Record<string, string> = bearer === "" ? {} : { authorization: `Bearer ${bearer}` };
      const response = await fetch(`${base}/api/${call}`, { headers, signal });
      return response.ok ? ((await response.json()) as Body) : response.status;
    } catch {
      return undefined;
    }
  }

  #read(name: string): Remembered {
    const kept = readJson(local, keyAt(this.#ports.base, name));
    if (typeof kept !== "object" || kept === null) return {};
    return Object.fromEntries(Object.entries(kept).filter(([, seq]) => typeof seq === "number"));
  }

  #kept(name: string, rooms: Remembered): Remembered {
    keep(local, keyAt(this.#ports.base, name), rooms);
    return rooms;
  }
}

function without(rooms: Remembered, room: string): Remembered {
  const { [room]: _gone, ...others } = rooms;
  return others;
}

const withRoom = (rooms: Remembered, room: string, seq = 0): Remembered =>
  Object.fromEntries([...Object.entries(without(rooms, room)), [room, seq] as const].slice(-REMEMBERED_MAX));

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(0, ms));
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
