// Checks that a room stores the posts of one connection in the order in which they were said, however many are in flight. Called by
// stock-person.ts and witness.ts.
import type { PlannedClient } from "./plan.ts";
import type { Witness } from "./witness.ts";

interface Saying {
  /** The client, and its connection: over another one a later post may arrive first. */
  readonly over: string;
  /** Counts all sayings. */
  readonly place: number;
  isSaidAgain: boolean;
}

export class SaidOrder {
  readonly #witness: Witness;
  readonly #sayings = new Map<string, Saying>();
  /** The latest saying that is stored, by log and connection. */
  readonly #newest = new Map<string, { readonly place: number; readonly content: string }>();

  constructor(witness: Witness) {
    this.#witness = witness;
  }

  /** A stock client emits a post. @param connection the number of the one that carries it: without a connection the next one */
  said(content: string, { name, insists }: PlannedClient, connection: number): void {
    // Its socket sends one post after the other, each perhaps over several connections.
    if (insists === "retries") return;
    const over = `${name} ${connection}`;
    const before = this.#sayings.get(content);
    if (before) before.isSaidAgain = true;
    else this.#sayings.set(content, { over, place: this.#sayings.size, isSaidAgain: false });
  }

  /** A room stores messages in the order of these calls. */
  stored(room: string, epoch: string, content: string): void {
    const saying = this.#sayings.get(content);
    // It is unknown which of its tries the room took.
    if (!saying || saying.isSaidAgain) return;
    const key = `${epoch} ${saying.over}`;
    const newest = this.#newest.get(key);
    this.#witness.demand(
      newest === undefined || newest.place < saying.place,
      "said in order",
      () => `${room} has "${content}" behind "${newest!.content}", which was said after it`,
    );
    this.#newest.set(key, { place: saying.place, content });
  }
}
