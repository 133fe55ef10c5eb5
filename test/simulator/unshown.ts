// Checks messages that clients are not shown, because they attend to counts, or because their crowd is shown only so many. Called by
// stock-person.ts; the client with extensions fetches them itself.
import type { Message, NotShown } from "../../src/protocol/chat-events.ts";
import type { Chain } from "./chain.ts";
import type { Witness } from "./witness.ts";

export class Unshown {
  readonly #witness: Pick<Witness, "broken" | "demand" | "isStrict" | "log" | "miss">;

  constructor(witness: Pick<Witness, "broken" | "demand" | "isStrict" | "log" | "miss">) {
    this.#witness = witness;
  }

  /** A client that attended to counts attends to all again, and has all up to there by other means. */
  jumped(chain: Chain, lastSeq: number): void {
    chain.last = Math.max(chain.last ?? 0, lastSeq);
  }

  disturbed({ who }: Chain, { seq }: Message): void {
    this.#witness.broken("seen in order", `${who} was shown ${seq}, and attends to counts`);
  }

  /**
   * A client heard which messages were stored and not shown. It may have been shown them by a recovery.
   * @param mayBeLost whether a restored backup may have them no more
   */
  told(chain: Chain, room: string, { from, to }: NotShown, mayBeLost: boolean): void {
    const { last, who, epoch } = chain;
    if (last === undefined)
      return this.#witness.broken("seen in order", `${who} was told of ${from} to ${to} before its welcome`);
    for (let missed = last + 1; missed < from; missed++)
      this.#witness.miss(chain, missed, chain.isWelcomed ? "seen in order" : "recovered whole");
    const { durable, isErased } = this.#witness.log(room, epoch);
    for (let seq = Math.max(from, last + 1); seq <= to; seq++) {
      chain.told.add(seq);
      this.#witness.demand(
        !this.#witness.isStrict || mayBeLost || isErased || durable.has(seq),
        "seen is stored",
        () => `${who} was told that ${seq} is stored and not shown`,
      );
    }
    chain.last = Math.max(last, to);
  }
}
