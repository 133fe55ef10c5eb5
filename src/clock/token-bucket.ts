// Token buckets by user or address. Used by the limits on posts, requests, searches and opened conversations. A bucket is plain
// data: the connection of its user carries it through a sleep.

export interface RateLimit {
  /** Tokens that come back per second. */
  readonly perSecond: number;
  /** Tokens a full bucket holds. */
  readonly burst: number;
}

export interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

export type Taking =
  | { readonly ok: true; readonly bucket: Bucket }
  | { readonly ok: false; readonly retryAfterMs: number };

/** One bucket per user, shared by all connections of the user; leaving and coming back does not fill it. */
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

  /** After sleep each connection brings the bucket as its own last post left it: the latest counts, or the emptier of two. */
  restore(user: string, bucket: Bucket, nowMs: number): void {
    if (this.#isFull(bucket, nowMs)) return;
    const known = this.#byUser.get(user);
    const isLater = !known || bucket.atMs > known.atMs || (bucket.atMs === known.atMs && bucket.tokens < known.tokens);
    if (isLater) this.#byUser.set(user, bucket);
  }

  /** Takes `cost` tokens if there are as many. */
  take(user: string, nowMs: number, cost = 1): Taking {
    const { perSecond } = this.#limit;
    const bucket = this.of(user, nowMs);
    const tokens = this.#tokensIn(bucket, nowMs);
    if (tokens < cost) {
      // Without this nothing would come back until a clock that was set back has caught up.
      if (nowMs < bucket.atMs) this.#keep(user, { tokens, atMs: nowMs });
      return { ok: false, retryAfterMs: Math.ceil(((cost - tokens) * 1000) / perSecond) };
    }
    return { ok: true, bucket: this.#keep(user, { tokens: tokens - cost, atMs: nowMs }) };
  }

  /** Takes `cost` tokens, and leaves a debt where there are fewer. */
  charge(user: string, nowMs: number, cost: number): void {
    this.#keep(user, { tokens: this.#tokensIn(this.of(user, nowMs), nowMs) - cost, atMs: nowMs });
  }

  /** Undoes a `take`. */
  giveBack(user: string, nowMs: number): void {
    this.charge(user, nowMs, -1);
  }

  #keep(user: string, bucket: Bucket): Bucket {
    this.#byUser.set(user, bucket);
    if (this.#byUser.size >= this.#pruneAtSize) this.#prune(bucket.atMs);
    return bucket;
  }

  /** Forgets users whose bucket is full again: a new one would be no different. */
  #prune(nowMs: number): void {
    for (const [user, bucket] of this.#byUser) if (this.#isFull(bucket, nowMs)) this.#byUser.delete(user);
    this.#pruneAtSize = Math.max(128, this.#byUser.size * 2);
  }

  #isFull(bucket: Bucket, nowMs: number): boolean {
    return this.#tokensIn(bucket, nowMs) >= this.#limit.burst;
  }

  /** A clock that was set back gives nothing back and takes nothing away. */
  #tokensIn({ tokens, atMs }: Bucket, nowMs: number): number {
    const { perSecond, burst } = this.#limit;
    return Math.min(burst, tokens + (Math.max(0, nowMs - atMs) * perSecond) / 1000);
  }
}
