// Fetches the list of rooms from the lobby while the page is in view, which wakes no room, and remembers in this browser how far
// the reader has read each room. The chat store owns one.
import type { RoomOverview } from "parley-rooms/client";

import { keep, keyAt, local, readJson } from "./json-storage.ts";
import type { SeenRooms } from "./room-items.ts";

export const SEEN_NAME = "parley.seen";
const ASK_EVERY_MS = 15_000;
/** While the reader knows other rooms, whose badges show new messages. */
export const ASK_FOR_NEWS_MS = 5_000;
const ROOMS_LIMIT = 200;
/** Rooms that are remembered; those visited longest ago are forgotten. */
const SEEN_MAX = 100;

interface DirectoryPorts {
  /** The chat's address. */
  readonly base: string;
  readonly token: () => Promise<string> | string;
  readonly changed: () => void;
}

export class RoomDirectory {
  listed: readonly RoomOverview[] = [];
  seen: SeenRooms;
  /** Whether the server lets this reader list rooms at all; unknown before it answered. */
  isListable: boolean | undefined;
  readonly #ports: DirectoryPorts;
  readonly #watching = new AbortController();
  #timer: ReturnType<typeof setInterval>;
  readonly #key: string;
  #askedAtMs = 0;

  constructor(ports: DirectoryPorts) {
    this.#ports = ports;
    this.#key = keyAt(ports.base, SEEN_NAME);
    this.seen = readSeen(this.#key);
    this.#timer = setInterval(() => {
      const hasBadges = Object.keys(this.seen).length > 1;
      if (hasBadges || Date.now() - this.#askedAtMs >= ASK_EVERY_MS) this.#askInView();
    }, ASK_FOR_NEWS_MS);
    document.addEventListener("visibilitychange", () => this.#askInView(), { signal: this.#watching.signal });
    void this.ask();
  }

  async ask(): Promise<void> {
    this.#askedAtMs = Date.now();
    const { base, token, changed } = this.#ports;
    try {
      const headers = { authorization: `Bearer ${await token()}` };
      const response = await fetch(`${base}/api/rooms?limit=${ROOMS_LIMIT}`, { headers });
      if (response.status === 403) this.isListable = false;
      if (!response.ok) return changed();
      const { rooms } = (await response.json()) as { readonly rooms: readonly RoomOverview[] };
      this.listed = rooms;
      this.isListable = true;
      changed();
    } catch {
      // Offline: the list stays as it was.
    }
  }

  /** The reader has seen everything up to there. */
  saw(room: string, seq: number): void {
    if (seq <= (this.seen[room] ?? -1)) return;
    this.#keep(room, seq);
  }

  /** The room was deleted and created again. */
  restarted(room: string): void {
    this.#keep(room, 0);
  }

  forget(room: string): void {
    const { [room]: _gone, ...seen } = this.seen;
    this.seen = seen;
    keep(local, this.#key, seen);
    this.#ports.changed();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watching.abort();
  }

  #keep(room: string, seq: number): void {
    const { [room]: _before, ...others } = this.seen;
    const entries = [...Object.entries(others), [room, seq] as const].slice(-SEEN_MAX);
    this.seen = Object.fromEntries(entries);
    keep(local, this.#key, this.seen);
  }

  #askInView(): void {
    if (document.visibilityState === "visible") void this.ask();
  }
}

function readSeen(key: string): SeenRooms {
  const kept = readJson(local, key);
  if (typeof kept !== "object" || kept === null) return {};
  return Object.fromEntries(Object.entries(kept).filter(([, seq]) => typeof seq === "number"));
}
