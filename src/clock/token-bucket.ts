// Token buckets by user or address. Used by the limits on posts, requests, searches and opened conversations. A bucket is plain data,
// which the attachment of its user's connection carries through sleep.

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

export type TokenResult =
  | { readonly ok: true; readonly bucket: Bucket }
  | { readonly ok: false; readonly retryAfterMs: number };

/** One bucket per user, for all connections of the user; a new connection does not fill it. */
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
