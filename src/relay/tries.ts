// The tries that a relayed batch or a part of an announcement gets before it is a dead letter (RLY-9, ANN-6). Together they take
// some nine hours.
import type { Backoff } from "../clock/rates.ts";

/** The first try, and `max_retries` of wrangler.toml. */
export const RELAY_TRIES_MAX = 21;

/** In seconds. */
export const RELAY_RETRY: Backoff = { first: 1, max: 3600 };
