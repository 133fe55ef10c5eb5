// Limits request bodies that one user sends at a time, because each takes memory (FILE-7, API-11). Each isolate counts for itself. Guests
// count by their network, because anyone gets another guest token. Called by the HTTP API.
import { addressOf } from "./request-origin.ts";
import { guestsOf } from "../../socketio/wire/client-address.ts";
import type { Identity } from "../../protocol/identity.ts";

/** The key under which bodies, uploads and conversations count. */
export function holderOf(
  request: Request,
  { user, isGuest }: { readonly user: string; readonly isGuest?: Identity["isGuest"] | undefined },
): string {
  return isGuest ? guestsOf(addressOf(request)) : user;
}

export class UnderWay {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  /** @param max bodies of one holder at a time */
  constructor(max: number) {
    this.#max = max;
  }

  /** @returns a function that ends the body, to be called once; `undefined` where the holder has the most bodies under way */
  begin(holder: string): (() => void) | undefined {
    const count = this.#counts.get(holder) ?? 0;
    if (count >= this.#max) return undefined;
    this.#counts.set(holder, count + 1);
    return () => {
      const left = this.#counts.get(holder)! - 1;
      if (left > 0) this.#counts.set(holder, left);
      else this.#counts.delete(holder);
    };
  }
}
