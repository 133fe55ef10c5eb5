// Rate limits and their kin: a throttle (at most once per span), a rate, a window (so many times per key), token buckets, and the waits between
// retries. Called by parts that gather changes (posts, presence, read marks), by room reports and samples, by the limits on floods (connects per
// address, refusals per user, packets per session), and by those on users (posts, requests, searches).
import type { Deadline } from "./deadlines.ts";
import { RecentMap } from "./recent-map.ts";

/** Whether `spanMs` have passed since `atMs`. A clock that was set back since then counts as passed, so nothing waits for hours. */
export function hasPassed(atMs: number, spanMs: number, nowMs: number): boolean {
  return nowMs - atMs >= spanMs || nowMs < atMs;
}

/** The last pass and the window after it: plain data, which may outlive a sleep. */
export interface ThrottleState {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly windowMs: number;
}

/** Lets an action pass at once after quiet, then at most once per window. */
export class Throttle {
  readonly #minMs: number;
  readonly #maxMs: number;
  #windowMs: number;
  #atMs = -Infinity;

  /** @param maxMs the window doubles up to this while it is in use, and falls back to `minMs` after quiet */
  constructor(minMs: number, maxMs = minMs) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
    this.#windowMs = minMs;
  }

  get state(): ThrottleState {
    return { atMs: this.#atMs, windowMs: this.#windowMs };
  }

  restore({ atMs, windowMs }: ThrottleState): void {
    this.#atMs = atMs;
    this.#windowMs = windowMs;
  }

  isOpen(nowMs: number): boolean {
    return hasPassed(this.#atMs, this.#windowMs, nowMs);
  }

  /** The end of the window, past or future; now, if the clock was set back. */
  dueMs(nowMs: number): number {
    return nowMs < this.#atMs ? nowMs : this.#atMs + this.#windowMs;
  }

  /** Begins a window. It is twice as long as the last one if that began less than two windows ago. */
  pass(nowMs: number): void {
    const isInUse = !hasPassed(this.#atMs, 2 * this.#windowMs, nowMs);
    this.#windowMs = isInUse ? Math.min(this.#maxMs, 2 * this.#windowMs) : this.#minMs;
    this.#atMs = nowMs;
  }

  /** Passes if the window is open. @returns whether it was */
  passIfOpen(nowMs: number): boolean {
    if (!this.isOpen(nowMs)) return false;
    this.pass(nowMs);
    return true;
  }

  /** Ends the window. */
  reopen(): void {
    this.#atMs = -Infinity;
  }
}

/** How often an action runs while requests keep coming; both functions are called at each request. */
export interface Rate {
  /** Milliseconds from one run to the next. */
  readonly windowMs: () => number;
  /** Runs that need not wait after quiet, at least 1 (the default). Each uses up a window, the first its own and the others later ones. */
  readonly burst?: () => number;
}

/** The runs of a burst are at least this share of a window apart, so that requests of the same moment are gathered. */
const BURST_GAP = 0.1;

/** Runs an action at a rate: at once after quiet, otherwise once for all requests of a window, when its deadline is due. */
export class ThrottledRun {
  readonly #rate: Required<Rate>;
  readonly #deadline: Deadline;
  readonly #run: () => void;
  #ranAtMs = -Infinity;
  /** The end of the windows that the runs so far have used up. */
  #usedUntilMs = -Infinity;

  /** @param makeDeadline makes the deadline of the run, with the function that it is given */
  constructor(
    { windowMs, burst = () => 1 }: Rate,
    run: () => void,
    makeDeadline: (run: (nowMs: number) => void) => Deadline,
  ) {
    this.#rate = { windowMs, burst };
    this.#run = run;
    this.#deadline = makeDeadline((nowMs) => this.flush(nowMs));
  }

  request(nowMs: number): void {
    const windowMs = this.#rate.windowMs();
    const dueMs = this.#dueMs(nowMs, windowMs);
    const isQuiet = nowMs >= dueMs && this.#deadline.atMs === undefined;
    // In a busy room a late run has requests queued behind it, and the deadline's timer lets them pass first. After another
    // window it runs without the timer, because a burst of input starves timers.
    if (isQuiet || nowMs >= dueMs + windowMs) this.flush(nowMs);
    else this.#deadline.pull(Math.max(nowMs, dueMs));
  }

  #dueMs(nowMs: number, windowMs: number): number {
    // The clock was set back: no window is used up.
    if (nowMs < this.#ranAtMs) return nowMs;
    const aheadMs = (this.#rate.burst() - 1) * windowMs;
    return Math.max(this.#usedUntilMs - aheadMs, this.#ranAtMs + BURST_GAP * windowMs);
  }

  /** Asks for a run a window from now, or together with one that is due sooner. */
  requestLater(nowMs: number): void {
    this.#deadline.pull(nowMs + this.#rate.windowMs());
  }

  /** Runs at once. Requests that waited are done with this run. */
  flush(nowMs: number): void {
    this.#deadline.clear();
    const windowMs = this.#rate.windowMs();
    const usedUntilMs = nowMs < this.#ranAtMs ? nowMs : Math.max(nowMs, this.#usedUntilMs);
    // Runs that cannot wait use up no more than all the windows in advance.
    this.#usedUntilMs = Math.min(usedUntilMs, nowMs + (this.#rate.burst() - 1) * windowMs) + windowMs;
    this.#ranAtMs = nowMs;
    this.#run();
  }

  /** Forgets the requests so far. */
  cancel(): void {
    this.#deadline.clear();
  }
}

/** Counts per key in windows of a fixed length. All keys share a window. A clock that was set back begins the next one. */
export class Window<Key = string> {
  readonly #lengthMs: number;
  readonly #counts: RecentMap<Key, number>;
  #sinceMs = -Infinity;

  /** @param keysMax keys counted at a time; one more takes the place of the key that was counted longest ago */
  constructor(lengthMs: number, keysMax = Infinity) {
    this.#lengthMs = lengthMs;
    this.#counts = new RecentMap(keysMax);
  }

  /** Counts one more. @returns how many there are of the key in this window */
  count(key: Key, nowMs: number): number {
    const count = this.countOf(key, nowMs) + 1;
    // Were all counts forgotten, many keys would set a flood's count back.
    this.#counts.set(key, count);
    return count;
  }

  countOf(key: Key, nowMs: number): number {
    if (hasPassed(this.#sinceMs, this.#lengthMs, nowMs)) {
      this.#counts.clear();
      this.#sinceMs = nowMs;
    }
    return this.#counts.get(key) ?? 0;
  }

  /** Until the next window. */
  restMs(nowMs: number): number {
    return Math.max(0, this.#sinceMs + this.#lengthMs - nowMs);
  }

  forget(key: Key): void {
    this.#counts.delete(key);
  }
}

export interface RateLimit {
  /** Tokens that come back per second. */
  readonly perSecond: number;
  /** Tokens a full bucket holds. */
  readonly burst: number;
}

/** Plain data, which the attachment of its user's connection carries through sleep. */
export interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

export type TokenResult =
  | { readonly ok: true; readonly bucket: Bucket }
  | { readonly ok: false; readonly retryAfterMs: number };

/** One bucket per user or address, for all connections of the user; a new connection does not fill it. */
export class TokenBuckets {
  readonly #limit: RateLimit;
  readonly #byUser = new Map<string, Bucket>();
  #pruneAtSize = 128;

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  of(user: string, nowMs: number): Bucket {
    return this.#byUser.get(user) ?? { tokens: this.#limit.burst, atMs: nowMs };
  }

  /** After sleep each connection brings the bucket as of its own last post. The latest one counts, and of two at one time the emptier. */
  restore(user: string, bucket: Bucket, nowMs: number): void {
    if (this.#isFull(bucket, nowMs)) return;
    const known = this.#byUser.get(user);
    const isLater = !known || bucket.atMs > known.atMs || (bucket.atMs === known.atMs && bucket.tokens < known.tokens);
    if (isLater) this.#byUser.set(user, bucket);
  }

  /** Whether it is not full again after so many milliseconds. */
  lacksAfter(bucket: Bucket, ms: number): boolean {
    return !this.#isFull(bucket, bucket.atMs + ms);
  }

  /** Takes `cost` tokens if there are as many. */
  take(user: string, nowMs: number, cost = 1): TokenResult {
    const { perSecond } = this.#limit;
    const bucket = this.of(user, nowMs);
    const tokens = this.#tokensIn(bucket, nowMs);
    if (tokens < cost) {
      // Otherwise, after a clock was set back, no token would come back until it has caught up.
      if (nowMs < bucket.atMs) this.#keep(user, { tokens, atMs: nowMs });
      return { ok: false, retryAfterMs: Math.ceil(((cost - tokens) * 1000) / perSecond) };
    }
    return { ok: true, bucket: this.#keep(user, { tokens: tokens - cost, atMs: nowMs }) };
  }

  /** Takes `cost` tokens, and leaves a debt if there are fewer. */
  charge(user: string, nowMs: number, cost: number): void {
    this.#keep(user, { tokens: this.#tokensIn(this.of(user, nowMs), nowMs) - cost, atMs: nowMs });
  }

  /** Undoes a `take`. */
  giveBack(user: string, nowMs: number): void {
    this.charge(user, nowMs, -1);
  }

  #keep(user: string, bucket: Bucket): Bucket {
    this.#byUser.set(user, bucket);
    if (this.#byUser.size >= this.#pruneAtSize) {
      // A full bucket is the same as a new one, so its user is forgotten.
      for (const [known, kept] of this.#byUser) if (this.#isFull(kept, bucket.atMs)) this.#byUser.delete(known);
      this.#pruneAtSize = Math.max(128, this.#byUser.size * 2);
    }
    return bucket;
  }

  #isFull(bucket: Bucket, nowMs: number): boolean {
    return this.#tokensIn(bucket, nowMs) >= this.#limit.burst;
  }

  /** A clock that was set back neither gives nor takes tokens. */
  #tokensIn({ tokens, atMs }: Bucket, nowMs: number): number {
    const { perSecond, burst } = this.#limit;
    return Math.min(burst, tokens + (Math.max(0, nowMs - atMs) * perSecond) / 1000);
  }
}

/** The wait before a retry. */
export interface Backoff {
  /** The wait after the first failure. */
  readonly first: number;
  /** The wait doubles with each further failure, up to this. */
  readonly max: number;
}

/** @param failures in a row, at least 1; @returns the wait, in the unit of `first` and `max` */
export function waitAfter({ first, max }: Backoff, failures: number): number {
  return Math.min(max, first * 2 ** (failures - 1));
}
