// The reader's rooms: what is new in each, as the client of the package follows it, and, while the page is in view, the list of all rooms. No
// room wakes for either. Remembers in this browser which rooms the reader has entered or left. The chat store owns one.
import {
  followRooms,
  type FollowOptions,
  type JoinedRoom,
  type MentionsAnswer,
  type MentionsQuery,
  type OwnRooms,
  type RoomOverview,
  type RoomsQuery,
} from "parley-rooms/client";

import { keep, keyAt, local, readJson } from "./json-storage.ts";

export const SEEN_NAME = "parley.seen";
export const LEFT_NAME = "parley.left";
export const FOLDED_NAME = "parley.folded";
const LIST_EVERY_MS = 15_000;
/** Messages that mention the reader, in one answer. */
export const MENTIONS_LIMIT = 30;
const ROOMS_LIMIT = 200;
/** Rooms that are remembered, of those entered and of those left; those of longest ago are forgotten. */
const REMEMBERED_MAX = 100;

/** By room, the one entered or left last comes last. For one left, the `seq` of its newest message then; for one entered, nothing. */
type Remembered = ReadonlyMap<string, number>;

interface DirectoryPorts extends Required<FollowOptions> {
  /** The chat's address. */
  readonly base: string;
  readonly token: Extract<FollowOptions["token"], (...given: never[]) => unknown>;
  readonly changed: () => void;
}

export class RoomDirectory {
  listed: readonly RoomOverview[] = [];
  /** Whether the server lets this reader list rooms at all; unknown before it answered. */
  isListable: boolean | undefined;
  /** Whether the reader has folded away the rooms in which they have never been. */
  isFolded: boolean;
  readonly #ports: DirectoryPorts;
  readonly #joined: OwnRooms;
  #seen: Remembered;
  #left: Remembered;
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #life = new AbortController();

  constructor(ports: DirectoryPorts) {
    this.#ports = ports;
    [this.#seen, this.#left] = [this.#read(SEEN_NAME), this.#read(LEFT_NAME)];
    this.isFolded = readJson(local, keyAt(ports.base, FOLDED_NAME)) === true;
    this.#joined = followRooms(ports.base, ports);
    this.#joined.subscribe(() => ports.changed());
    document.addEventListener("visibilitychange", () => this.#look(), { signal: this.#life.signal });
    this.#look();
  }

  /** As the server knows them; `undefined` before it answered. */
  get joined(): readonly JoinedRoom[] | undefined {
    return this.#joined.getSnapshot();
  }

  /** Rooms that the reader has entered in this browser and not left since, the last one last. */
  get entered(): readonly string[] {
    return [...this.#seen.keys()];
  }

  /** The rooms of the reader that they have not left in this browser. A person who writes again is there again. */
  get own(): readonly JoinedRoom[] {
    const isLeft = ({ room, direct, lastSeq }: JoinedRoom): boolean => {
      const leftAt = this.#left.get(room);
      return leftAt !== undefined && !(direct && lastSeq > leftAt);
    };
    return (this.joined ?? []).filter((joined) => !isLeft(joined));
  }

  enter(room: string): void {
    this.#seen = this.#kept(SEEN_NAME, withRoom(this.#seen, room));
    if (this.#left.has(room)) this.#left = this.#kept(LEFT_NAME, without(this.#left, room));
  }

  /** @param lastSeq the newest message, as the room says: the list may be behind */
  forget(room: string, lastSeq: number): void {
    const listed = this.joined?.find((joined) => joined.room === room)?.lastSeq ?? 0;
    this.#seen = this.#kept(SEEN_NAME, without(this.#seen, room));
    this.#left = this.#kept(LEFT_NAME, withRoom(this.#left, room, Math.max(lastSeq, listed)));
    this.#ports.changed();
  }

  fold(isFolded: boolean): void {
    this.isFolded = isFolded;
    keep(local, keyAt(this.#ports.base, FOLDED_NAME), isFolded || undefined);
    this.#ports.changed();
  }

  search(query: RoomsQuery): ReturnType<OwnRooms["search"]> {
    return this.#joined.search(query);
  }

  mentions(query: MentionsQuery): Promise<MentionsAnswer> {
    return this.#joined.mentions(query);
  }

  close(): void {
    this.#life.abort();
    clearInterval(this.#timer);
    this.#joined.close();
  }

  #look(): void {
    clearInterval(this.#timer);
    if (document.visibilityState !== "visible") return;
    void this.#list();
    this.#timer = setInterval(() => void this.#list(), LIST_EVERY_MS);
  }

  /** Where the server lists none, or is away, the list stays as it was. */
  async #list(): Promise<void> {
    if (this.isListable === false) return;
    const { base, token, changed } = this.#ports;
    const { signal } = this.#life;
    try {
      const bearer = await token();
      const headers: Record<string, string> = bearer === "" ? {} : { authorization: `Bearer ${bearer}` };
      const response = await fetch(`${base}/api/rooms?limit=${ROOMS_LIMIT}`, { headers, signal });
      if (response.status === 403) this.isListable = false;
      if (response.ok) {
        this.listed = ((await response.json()) as { rooms: readonly RoomOverview[] }).rooms;
        this.isListable = true;
      }
    } catch {
      // Offline, closed, or without a token.
    }
    if (!signal.aborted) changed();
  }

  /** Earlier releases stored an object, which begins with the names that are numbers. */
  #read(name: string): Remembered {
    const kept = readJson(local, keyAt(this.#ports.base, name)) ?? {};
    const rooms: unknown[] = Array.isArray(kept) ? kept : Object.entries(kept);
    return new Map(rooms.filter(isRemembered));
  }

  #kept(name: string, rooms: Remembered): Remembered {
    keep(local, keyAt(this.#ports.base, name), [...rooms]);
    return rooms;
  }
}

const isRemembered = (entry: unknown): entry is [string, number] =>
  Array.isArray(entry) && typeof entry[0] === "string" && typeof entry[1] === "number";

const without = (rooms: Remembered, room: string): Remembered => new Map([...rooms].filter(([one]) => one !== room));

const withRoom = (rooms: Remembered, room: string, seq = 0): Remembered =>
  new Map([...without(rooms, room), [room, seq] as const].slice(-REMEMBERED_MAX));
