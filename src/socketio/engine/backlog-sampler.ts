// Samples the bytes that a room buffers for clients that do not take them: no object can read its own memory use, and this is the
// part of it that clients cause. Called by engine.ts.
import { Throttle } from "../../clock/throttle.ts";
import type { Backpressure } from "./backpressure.ts";
import type { Meter } from "./meter.ts";
import type { Session } from "./session.ts";

/** From one sample to the next, at least. */
const SAMPLE_MS = 1000;

export interface BacklogSampled {
  readonly meter: Meter;
  readonly now: () => number;
  readonly sessions: ReadonlyMap<string, Session>;
  readonly backpressure: Backpressure;
}

export class BacklogSampler {
  readonly #of: BacklogSampled;
  readonly #throttle = new Throttle(SAMPLE_MS);

  constructor(of: BacklogSampled) {
    this.#of = of;
  }

  /** Called after sending, by which alone the backlog grows. An empty backlog is no sample. */
  sample(): void {
    const { meter, now, sessions, backpressure } = this.#of;
    if (!this.#throttle.take(now())) return;
    let bytes = backpressure.stalledBytes;
    for (const { polling } of sessions.values()) bytes += polling?.bytes ?? 0;
    if (bytes > 0) meter.observe("unread", bytes);
  }
}
