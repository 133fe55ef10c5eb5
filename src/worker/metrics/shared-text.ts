// Caches a text that is costly to make for some seconds. Called by the metrics route (MET-5). Requests do not wait for each other:
// a request that breaks off would leave the others waiting.
import { hasPassed } from "../../clock/rates.ts";

export class SharedText {
  readonly #everyMs: number;
  #beganAtMs = -Infinity;
  #text: string | undefined;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** @throws what `make` throws; the next request makes it again */
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
