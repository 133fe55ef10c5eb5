// Limits the messages that a user's searches and exports may read (SRCH-9), and gives out turns to them (SRCH-5). All rooms of an isolate
// share one, because they share one processor: a search in one room delays messages in all. Called by sliced-work.ts, and by those that
// begin such work.
import { TokenBuckets, type RateLimit, type TokenResult } from "../../clock/rates.ts";

/** Messages that a user's searches may read, in all rooms of the isolate: an ordinary search looks at some 3,000. */
export const READ_MESSAGES_LIMIT: RateLimit = { perSecond: 10_000, burst: 250_000 };

/** After a turn, searches rest so long for each message that it looked at: some three times as long as the turn took. */
export const READ_REST_MS_PER_MESSAGE = 1 / 50;

/**
 * So much of that rest, in ms, may come later where searches rested longer before than they had to: as much as one search in a large
 * room needs. So an occasional search does not wait, and constant searching is no faster.
 */
export const READ_REST_LATER_MS = 1000;

/** Turns are given out so far ahead at most. A turn further away was given out before the clock was set back. */
const AHEAD_MS_MAX = 60_000;

export class ReadAllowance {
  readonly #buckets = new TokenBuckets(READ_MESSAGES_LIMIT);
  /** When the rest of all turns so far is over, in milliseconds since 1970: the next turn may be then. */
  #freeAtMs = -Infinity;

  /** Whether a user may search: not while in debt for earlier searches. */
  ask(user: string, nowMs: number): TokenResult {
    return this.#buckets.take(user, nowMs);
  }

  /**
   * Gives out the next turn.
   * @param messages as many as it is about to look at
   * @returns when it is, in whole milliseconds since 1970
   */
  takeTurn(messages: number, nowMs: number): number {
    const atMs = Math.max(nowMs, this.#freeAt(nowMs));
    this.#rest(messages, nowMs);
    return Math.ceil(atMs);
  }

  /**
   * A turn is over. Its user pays for the messages that it looked at, and may be in debt then.
   * @param reckoned messages that `takeTurn` was called with; 0 for a turn at once
   */
  pay(user: string, messages: { readonly looked: number; readonly reckoned: number }, nowMs: number): void {
    this.#buckets.charge(user, nowMs, messages.looked);
    this.#rest(Math.max(0, messages.looked - messages.reckoned), nowMs);
  }

  #rest(messages: number, nowMs: number): void {
    const fromMs = Math.max(this.#freeAt(nowMs), nowMs - READ_REST_LATER_MS);
    this.#freeAtMs = fromMs + messages * READ_REST_MS_PER_MESSAGE;
  }

  #freeAt(nowMs: number): number {
    return this.#freeAtMs > nowMs + AHEAD_MS_MAX ? nowMs : this.#freeAtMs;
  }
}
