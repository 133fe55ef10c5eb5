// Caches a text that is costly to make, or the failure to make it, for some seconds. Called by the metrics route (MET-5). Requests wait for
// the one that makes it, which app.ts carries through when its client goes.
import { hasPassed } from "../../clock/rates.ts";

export class SharedText {
  readonly #everyMs: number;
  #beganAtMs = -Infinity;
  #text: Promise<string> | undefined;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** @throws what `make` threw, until the time is over */
  async get(nowMs: number, make: () => Promise<string>): Promise<string> {
    if (!this.#text || hasPassed(this.#beganAtMs, this.#everyMs, nowMs)) {
      this.#beganAtMs = nowMs;
      this.#text = make();
    }
    return this.#text;
  }
}
