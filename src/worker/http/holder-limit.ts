// Limits what one holder has under way at a time: bodies and uploads, which take memory (FILE-7, API-11), and fetches for link cards. A holder
// is a user, or the network of guests, because anyone gets another guest token. Each isolate counts for itself. Called by deployment.ts,
// src/worker/api and the feature of link cards.
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

export class HolderLimit {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  /** @param max of one holder at a time */
  constructor(max: number) {
    this.#max = max;
  }

  /** @returns a function that ends it, to be called once; `undefined` where the holder has the most under way */
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
