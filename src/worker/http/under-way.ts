// Counts, per user, bodies on their way in, which take memory while they last (FILE-7, API-11). Each isolate counts for itself. Guests
// count by their network, since anyone gets another guest token. Called by the HTTP API.
import { addressOf } from "./origin.ts";
import { networkOf } from "../../socketio/wire/client-address.ts";
import type { Identity } from "../../protocol/identity.ts";

/** The key under which bodies count. No user id has a line break in it. */
export function holderOf(request: Request, { user, isGuest }: Pick<Identity, "user" | "isGuest">): string {
  return isGuest ? `\n${networkOf(addressOf(request))}` : user;
}

export class UnderWay {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  /** @param max at a time and holder */
  constructor(max: number) {
    this.#max = max;
  }

  /** @returns what ends it, to be called once; nothing where the holder has as much under way as may be */
  begin(holder: string): (() => void) | undefined {
    const count = this.#counts.get(holder) ?? 0;
    if (count >= this.#max) return undefined;
    this.#counts.set(holder, count + 1);
    return () => this.#end(holder);
  }

  #end(holder: string): void {
    const count = this.#counts.get(holder)! - 1;
    if (count > 0) this.#counts.set(holder, count);
    else this.#counts.delete(holder);
  }
}
