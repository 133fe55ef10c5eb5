// Counts unjoined sessions without an identity, by network over all servers of an isolate, because the bytes that each may send before
// its CONNECT add up (LIM-5). Called by session-server.ts, unjoined-sessions.ts, src/stock/layer.ts and src/socketio/object/web-sockets.ts.
import { CLOSING_MS } from "../wire/closings.ts";
import { boundsOf } from "../wire/client-address.ts";

interface Entry {
  readonly network: string;
  /** The session is over by then, in ms since 1970: an object that slept or died never removes it. */
  untilMs: number;
}

export const PRUNE_AT_SIZE_MIN = 128;

export class UnjoinedQuota {
  readonly #entries = new Map<string, Entry>();
  readonly #counts = new Map<string, number>();
  #pruneAtSize = PRUNE_AT_SIZE_MIN;

  /** @param joinMs how long it may stay without joining */
  add(sid: string, address: string, { nowMs, joinMs }: { nowMs: number; joinMs: number }): void {
    if (this.#entries.has(sid)) return;
    const network = networkAround(address);
    this.#entries.set(sid, { network, untilMs: nowMs + joinMs + CLOSING_MS });
    this.#counts.set(network, this.#countOf(network) + 1);
  }

  /** Called when it joined, or its connection is gone. */
  remove(sid: string): void {
    const entry = this.#entries.get(sid);
    if (!entry) return;
    this.#entries.delete(sid);
    const count = this.#countOf(entry.network) - 1;
    if (count > 0) this.#counts.set(entry.network, count);
    else this.#counts.delete(entry.network);
  }

  /** Called when the server closed it. */
  closing(sid: string, nowMs: number): void {
    const entry = this.#entries.get(sid);
    if (entry) entry.untilMs = Math.min(entry.untilMs, nowMs + CLOSING_MS);
  }

  /** @param max sessions of one network; 0 is no limit. @returns whether one more may not come */
  isFull(address: string, max: number, nowMs: number): boolean {
    const network = networkAround(address);
    const isFull = (): boolean => max > 0 && this.#countOf(network) >= max;
    // Looks through all entries only if that may change the answer, or they are twice as many as after the last time: otherwise each
    // request of a flood would look through them.
    if (isFull() || this.#entries.size >= this.#pruneAtSize) {
      for (const [sid, { untilMs }] of this.#entries) if (untilMs <= nowMs) this.remove(sid);
      this.#pruneAtSize = Math.max(PRUNE_AT_SIZE_MIN, 2 * this.#entries.size);
    }
    return isFull();
  }

  #countOf(network: string): number {
    return this.#counts.get(network) ?? 0;
  }
}

/** The widest network that has a limit. */
const networkAround = (address: string): string => boundsOf(address).at(-1)!.name;
