// Remembers the highest number that each source has sent, because calls may arrive twice or in the wrong order. Called by lobby.ts:
// by `madeAtMs`, so that a late report does not bring a deleted room back (LOB-1), and by the id of counter deltas, so that one that
// is sent again counts once (MET-2).
import { RecentMap } from "../../clock/recent-map.ts";
import { OVERTAKEN_MS_MAX } from "../../protocol/room-list.ts";

/** Sources that are remembered, in memory only. */
const SOURCES_MAX = 10_000;

export class NewestNumbers {
  readonly #takesEqual: boolean;
  /** By source, the one that sent last comes last. */
  readonly #newest = new RecentMap<string, number>(SOURCES_MAX);

  /** @param takesEqual takes a number that the source has sent before */
  constructor({ takesEqual }: { readonly takesEqual: boolean }) {
    this.#takesEqual = takesEqual;
  }

  /**
   * A number that is lower by more than a minute comes of a clock that was set back, and is taken.
   * @param storedNumber counts where the source is not remembered
   * @returns whether the number is taken; it is the newest then
   */
  take(source: string, number: number, storedNumber = -Infinity): boolean {
    const newest = this.#newest.get(source) ?? storedNumber;
    const isNew = this.#takesEqual ? number >= newest : number > newest;
    if (!isNew && newest - number <= OVERTAKEN_MS_MAX) return false;
    this.#newest.set(source, number);
    return true;
  }
}
