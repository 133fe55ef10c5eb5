// A text that costs something to make and that anybody may ask for: made once in a while, and given to all who ask meanwhile.
// Called by the metrics' route (MET-5). Requests wait for none of each other: one that is broken off would leave the others waiting.
import { hasPassed } from "../../clock/has-passed.ts";

export class SharedText {
  readonly #everyMs: number;
  #beganAtMs = -Infinity;
  #text: string | undefined;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** @throws what `make` throws; what failed is made again for the next who asks */
  async get(nowMs: number, make: () => Promise<string>): Promise<string> {
    if (this.#text !== undefined && !hasPassed(this.#beganAtMs, this.#everyMs, nowMs)) return this.#text;
    this.#beganAtMs = nowMs;
    try {
      return (this.#text = await make());
    } catch (error) {
      this.#text = undefined;
      throw error;
    }
  }
}
