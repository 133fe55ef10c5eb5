// How much a room has for clients that do not take it, for those who watch its memory: no object can read its own.
import { Throttle } from "../../clock/throttle.ts";
import type { Meter } from "../../metrics/meter.ts";
import type { Session } from "./session.ts";
import type { Unread } from "./unread.ts";

/** From one sample to the next, at least. */
const SAMPLE_MS = 1000;

export interface UnreadSampled {
  readonly meter: Meter;
  readonly now: () => number;
  readonly sessions: ReadonlyMap<string, Session>;
  readonly unread: Unread;
}

export class UnreadSampler {
  readonly #of: UnreadSampled;
  readonly #throttle = new Throttle(SAMPLE_MS);

  constructor(of: UnreadSampled) {
    this.#of = of;
  }

  /** Something was sent: by nothing else does it grow. A room that has nothing for anybody is no sample. */
  sample(): void {
    const { meter, now, sessions, unread } = this.#of;
    if (!this.#throttle.take(now())) return;
    let bytes = unread.stalledBytes;
    for (const { polling } of sessions.values()) bytes += polling?.bytes ?? 0;
    if (bytes > 0) meter.observe("unread", bytes);
  }
}
