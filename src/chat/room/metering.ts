// Counts how long posts take in a chat room. Called by room.ts and posting/posts.ts.
import { Throttle } from "../../clock/throttle.ts";
import type { Meter } from "../../metrics/meter.ts";
import type { Verdict } from "./verdict.ts";

/** @param waitedMs of each message of a batch, until it was stored */
export function countCommit(meter: Meter, waitedMs: readonly number[]): void {
  meter.observe("batch", waitedMs.length);
  // A clock that was set back meanwhile must not lower a sum.
  for (const ms of waitedMs) meter.observe("commit", Math.max(0, ms) / 1000);
}

/** @param waitedMs from the request to the verdict of the room's own rules */
export function countVerdict(meter: Meter, verdict: Verdict["type"], waitedMs: number): void {
  meter.count(`verdicts:${verdict}`);
  meter.observe("verdict", Math.max(0, waitedMs) / 1000);
}

/** From one sample to the next, at least: each makes the platform enter the object once more. */
const SAMPLE_MS = 10_000;

/** Measures the time until a write is durable: the platform holds frames back until then. */
export class DeliverySampler {
  readonly #meter: Meter;
  readonly #now: () => number;
  readonly #durable: (() => Promise<void>) | undefined;
  readonly #throttle = new Throttle(SAMPLE_MS);

  /** @param durable resolves when all that was written is; without it nothing is measured */
  constructor(meter: Meter, now: () => number, durable: (() => Promise<void>) | undefined) {
    this.#meter = meter;
    this.#now = now;
    this.#durable = durable;
  }

  sample(): void {
    const startMs = this.#now();
    if (!this.#durable || !this.#throttle.passIfOpen(startMs)) return;
    const measure = (): void => this.#meter.observe("delivery", Math.max(0, this.#now() - startMs) / 1000);
    // Others report failures of the storage.
    this.#durable().then(measure, () => undefined);
  }
}
