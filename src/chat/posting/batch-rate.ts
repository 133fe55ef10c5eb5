// The rate at which a room stores and shows batches of posts. It follows from the number of connections, because a batch takes a send to each
// of them. Called by posts.ts, and by the models of scripts/cost.

/** Sends that a small room may make ahead of its window: after quiet it commits several batches at once. */
const SENDS_AHEAD = 200;

/** The sends of one batch to so many connections take 25 ms, half of the usual window. In a larger room windows are longer in proportion. */
const WINDOW_CONNECTIONS = 1000;
const WINDOWS_MAX = 10;
/** The largest value of the setting: clients wait ten seconds for an ack. */
const WINDOW_MS_MAX = 1000;
/** Such a room may commit so many batches at once after quiet, or else a few posts a second would wait for its long windows. */
const LARGE_BURST = 2;

export interface BatchRate {
  /** Milliseconds from one batch to the next. */
  readonly windowMs: number;
  /** Batches that need not wait after quiet, at least 1. */
  readonly burst: number;
}

/** @param settings `FLUSH_WINDOW_MS` and `FLUSH_BURST` */
export function batchRate(
  connections: number,
  settings: { readonly flushWindowMs: number; readonly flushBurst: number },
): BatchRate {
  const windows = Math.min(Math.max(1, connections / WINDOW_CONNECTIONS), WINDOWS_MAX);
  const ahead = windows > 1 ? LARGE_BURST : Math.max(1, Math.trunc(SENDS_AHEAD / Math.max(1, connections)));
  const windowMs = Math.min(Math.round(settings.flushWindowMs * windows), WINDOW_MS_MAX);
  return { windowMs, burst: Math.min(ahead, settings.flushBurst) };
}
