// Counts the bytes that each user uploads in 24 hours (FILE-8), over all rooms and isolates: a lobby keeps the counts of its users, a row per
// upload. Called by object.ts.
import { hasPassed } from "../../clock/rates.ts";
import { pagesIn, PagedMap } from "../../storage/paged-map.ts";
import type { RoomState } from "../../storage/room-state.ts";

const DAY_MS = 86_400_000;

/** Of 256 users each. With more of them the oldest page is forgotten. */
const PAGES_MAX = 400;

/** Files of a user in a day, at most: a small one counts as if it had its share of the bytes. */
export const FILES_PER_DAY_MAX = 16_384;

interface Used {
  /** Of the first upload that counts, in milliseconds since 1970. */
  readonly sinceMs: number;
  readonly bytes: number;
}

interface FailedUpload {
  /** Bytes that were counted before it began. */
  readonly taken: number;
  /** When they were counted, in milliseconds since 1970. */
  readonly takenMs: number;
  /** Bytes that came. */
  readonly received: number;
}

export class UploadBytes {
  readonly #used: PagedMap<Used>;

  constructor(state: RoomState) {
    this.#used = new PagedMap(pagesIn<Used>(state, "uploads:"), PAGES_MAX);
  }

  /**
   * @param max bytes in a day
   * @returns how long the user has to wait, in milliseconds; 0 where the bytes are counted
   * @throws errors of the storage; nothing is counted then
   */
  take(user: string, bytes: number, max: number, nowMs: number): number {
    const known = this.#used.get(user);
    const used = known && !hasPassed(known.sinceMs, DAY_MS, nowMs) ? known : { sinceMs: nowMs, bytes: 0 };
    const sum = used.bytes + countedOf(bytes, max);
    if (sum > max) return used.sinceMs + DAY_MS - nowMs;
    this.#set(user, { ...used, bytes: sum });
    return 0;
  }

  /**
   * An upload failed, so that fewer bytes came than were taken. Bytes that were taken before the user's present 24 hours are over
   * already: they change nothing.
   * @throws errors of the storage; nothing has changed then
   */
  giveBack(user: string, { taken, takenMs, received }: FailedUpload, max: number): void {
    const used = this.#used.get(user);
    const excess = countedOf(taken, max) - countedOf(received, max);
    if (used && takenMs >= used.sinceMs && excess > 0)
      this.#set(user, { ...used, bytes: Math.max(0, used.bytes - excess) });
  }

  #set(user: string, used: Used): void {
    this.#used.set(user, used);
    this.#used.save();
  }
}

const countedOf = (bytes: number, max: number): number => Math.max(bytes, max / FILES_PER_DAY_MAX);
