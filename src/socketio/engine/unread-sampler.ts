// How much a room has for clients that do not take it, for those who watch its memory: no object can read its own.
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
  #sampledAtMs = -Infinity;

  constructor(of: UnreadSampled) {
    this.#of = of;
  }

  /** Something was sent: by nothing else does it grow. A room that has nothing for anybody is no sample. */
  sample(): void {
    const { meter, now, sessions, unread } = this.#of;
    const nowMs = now();
    if (Math.abs(nowMs - this.#sampledAtMs) < SAMPLE_MS) return;
    this.#sampledAtMs = nowMs;
    let bytes = unread.stalledBytes;
    for (const { polling } of sessions.values()) bytes += polling?.bytes ?? 0;
    if (bytes > 0) meter.observe("unread", bytes);
  }
}
