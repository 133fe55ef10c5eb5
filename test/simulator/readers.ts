// Checks read marks: a mark that a room acked is there at the end, and no other.
import type { ReadMark } from "../../src/protocol/chat-events.ts";
import type { Witness } from "./witness.ts";

interface Reader {
  readonly room: string;
  /** Of the log that it was said of. */
  readonly epoch: string;
  readonly user: string;
}

interface Known extends Reader {
  /** The furthest that was asked for, whatever came of it. */
  asked: number;
  /** The furthest that was answered with ok since the room died last: a crash may cost a mark, a sleep may not. */
  kept: number;
}

export class Readers {
  readonly #witness: Witness;
  readonly #known = new Map<string, Known>();

  constructor(witness: Witness) {
    this.#witness = witness;
  }

  /** Somebody says how far they have read. @returns what hears the answer */
  ask(reader: Reader, seq: number): (answer: unknown) => void {
    const { epoch, user } = reader;
    const key = `${epoch} ${user}`;
    const known = this.#known.get(key) ?? { ...reader, asked: 0, kept: 0 };
    this.#known.set(key, known);
    known.asked = Math.max(known.asked, seq);
    const deaths = this.#witness.deathsOf(epoch);
    return (answer) => {
      const isDone = (answer as { readonly ok?: true } | undefined)?.ok === true;
      if (isDone && this.#witness.deathsOf(epoch) === deaths) known.kept = Math.max(known.kept, seq);
    };
  }

  died(epoch: string): void {
    for (const known of this.#known.values()) if (known.epoch === epoch) known.kept = 0;
  }

  /** @param marks all that the room has in the end */
  check(room: string, epoch: string, marks: readonly ReadMark[]): void {
    const told = new Map(marks.map(({ user, seq }) => [user, seq]));
    for (const { user, kept } of [...this.#known.values()].filter((known) => known.epoch === epoch))
      this.#demand((told.get(user) ?? 0) >= kept, () => `${room} has ${told.get(user)} for ${user}, who read ${kept}`);
    for (const [user, seq] of told) {
      // What was said of a log that is gone may arrive in the next one: a stock client keeps it until it is back.
      const said = [...this.#known.values()].filter((known) => known.room === room && known.user === user);
      const asked = Math.max(0, ...said.map((known) => known.asked));
      this.#demand(seq <= asked, () => `${room} says that ${user} read ${seq}, who said ${asked}`);
    }
  }

  #demand(isTrue: boolean, problem: () => string): void {
    this.#witness.demand(isTrue, "read", problem);
  }
}
