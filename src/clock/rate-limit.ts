// The token bucket, as a function from one state to the next, and the buckets of a room's users.
// A bucket is plain data: a member's connection carries it through sleep.

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

export function fullBucket({ burst }: RateLimit, nowMs: number): Bucket {
  return { tokens: burst, atMs: nowMs };
}

/** Takes one token, or `cost` of them. A clock that runs backwards gives nothing back and takes nothing away. */
export function takeToken(limit: RateLimit, bucket: Bucket, nowMs: number, cost = 1): Taking {
  const tokens = tokensIn(limit, bucket, nowMs);
  if (tokens >= cost) return { ok: true, bucket: { tokens: tokens - cost, atMs: nowMs } };
  return { ok: false, retryAfterMs: Math.ceil(((cost - tokens) * 1000) / limit.perSecond) };
}

function tokensIn({ perSecond, burst }: RateLimit, bucket: Bucket, nowMs: number): number {
  const elapsedMs = Math.max(0, nowMs - bucket.atMs);
  return Math.min(burst, bucket.tokens + (elapsedMs * perSecond) / 1000);
}

/** All connections of a user drink from one bucket, and going and coming back does not fill it. */
export class Buckets {
  readonly #limit: RateLimit;
  readonly #byUser = new Map<string, Bucket>();
  #pruneAtSize = 128;

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  of(user: string, nowMs: number): Bucket {
    return this.#byUser.get(user) ?? fullBucket(this.#limit, nowMs);
  }

  /** After sleep each connection brings the bucket as its own last post left it: the latest is true, or the emptier of two. */
  restore(user: string, bucket: Bucket, nowMs: number): void {
    if (this.#isFull(bucket, nowMs)) return;
    const known = this.#byUser.get(user);
    const isLater = !known || bucket.atMs > known.atMs || (bucket.atMs === known.atMs && bucket.tokens < known.tokens);
    if (isLater) this.#byUser.set(user, bucket);
  }

  take(user: string, nowMs: number, cost = 1): Taking {
    const taking = takeToken(this.#limit, this.of(user, nowMs), nowMs, cost);
    if (taking.ok) this.#byUser.set(user, taking.bucket);
    if (this.#byUser.size >= this.#pruneAtSize) this.#prune(nowMs);
    return taking;
  }

  /** Takes what something has cost, whether it is there or not: what is missing has to come back first. */
  charge(user: string, nowMs: number, cost: number): void {
    const tokens = tokensIn(this.#limit, this.of(user, nowMs), nowMs) - cost;
    this.#byUser.set(user, { tokens, atMs: nowMs });
    if (this.#byUser.size >= this.#pruneAtSize) this.#prune(nowMs);
  }

  /** What was taken turned out to be for nothing. */
  giveBack(user: string, nowMs: number): void {
    this.charge(user, nowMs, -1);
  }

  /** Forgets users whose bucket is full again: a new one would be no different. */
  #prune(nowMs: number): void {
    for (const [user, bucket] of this.#byUser) if (this.#isFull(bucket, nowMs)) this.#byUser.delete(user);
    this.#pruneAtSize = Math.max(128, this.#byUser.size * 2);
  }

  #isFull({ tokens, atMs }: Bucket, nowMs: number): boolean {
    const { perSecond, burst } = this.#limit;
    return tokens + ((nowMs - atMs) * perSecond) / 1000 >= burst;
  }
}

/** DM-5: conversations that a user begins, twenty at once and then ten a minute. */
export const DIRECT_OPENINGS: RateLimit = { perSecond: 10 / 60, burst: 20 };

/** Of this isolate, whether they are begun by event in a room or by a call to the Worker. */
export const directOpenings = new Buckets(DIRECT_OPENINGS);
