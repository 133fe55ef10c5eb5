// Remembers when each user last posted, for slow mode (MOD-8). Called by room-modes.ts. After sleep it reads the log; a post
// that waits to be stored counts from the moment it was taken.
import type { MessageLog } from "../log/message-log.ts";

/** Messages read back at most. A room that was busier than that in one interval forgives the rest. */
const READ_BACK_MAX = 5000;

/** Users remembered before those whose time is over are forgotten. */
const PRUNE_AT_SIZE = 1024;

export class LastPosts {
  readonly #log: MessageLog;
  readonly #report: (problem: string, error: unknown) => void;
  #atMs: Map<string, number> | undefined;
  #pruneAtSize = PRUNE_AT_SIZE;

  constructor(log: MessageLog, report: (problem: string, error: unknown) => void) {
    this.#log = log;
    this.#report = report;
  }

  /** When the user last posted, if that is less than `windowMs` ago. */
  of(user: string, { nowMs, windowMs }: { readonly nowMs: number; readonly windowMs: number }): number | undefined {
    const atMs = this.#read(nowMs - windowMs).get(user);
    return atMs !== undefined && nowMs - atMs < windowMs ? atMs : undefined;
  }

  /** @param atMs `undefined` takes back what was noted */
  note(user: string, atMs: number | undefined): void {
    if (atMs === undefined) this.#atMs?.delete(user);
    else this.#atMs?.set(user, atMs);
  }

  /** Another interval counts from now on, for which the log may have to be read further back. */
  forget(): void {
    this.#atMs = undefined;
  }

  #read(sinceMs: number): Map<string, number> {
    const known = (this.#atMs ??= this.#readBack(sinceMs));
    if (known.size >= this.#pruneAtSize) {
      for (const [user, atMs] of known) if (atMs <= sinceMs) known.delete(user);
      this.#pruneAtSize = Math.max(PRUNE_AT_SIZE, known.size * 2);
    }
    return known;
  }

  #readBack(sinceMs: number): Map<string, number> {
    const found = new Map<string, number>();
    let messages = 0;
    try {
      for (const { sender, timestamp, origin } of this.#log.newest(sinceMs)) {
        // Newest first: what is there already is later. What was said in another room does not count here.
        if (!origin && !found.has(sender)) found.set(sender, timestamp);
        if (++messages >= READ_BACK_MAX) break;
      }
    } catch (error) {
      this.#report("it could not be read who posted last", error);
    }
    return found;
  }
}
