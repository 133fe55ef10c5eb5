// Checks read marks: a mark that a room acked is there at the end, and no other. Called by run.ts, verdict.ts and witness.ts.
import type { ReadMark } from "../../src/protocol/chat-events.ts";
import type { Witness } from "./witness.ts";

interface Reader {
  readonly room: string;
  /** Of the log that the mark belongs to. */
  readonly epoch: string;
  readonly user: string;
}

interface Known extends Reader {
  /** The furthest seq of all requests, accepted or not. */
  asked: number;
  /** The furthest seq that the room acked since its last crash: a crash may lose a mark, a sleep may not. */
  kept: number;
}

export class Readers {
  readonly #witness: Witness;
  readonly #known = new Map<string, Known>();

  constructor(witness: Witness) {
    this.#witness = witness;
  }

  /** Notes that a user asks to set their mark. @returns to be called with the answer */
  noteRequest(reader: Reader, seq: number): (answer: unknown) => void {
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
    const stored = new Map(marks.map(({ user, seq }) => [user, seq]));
    for (const { user, kept } of [...this.#known.values()].filter((known) => known.epoch === epoch))
      this.#demand(
        (stored.get(user) ?? 0) >= kept,
        () => `${room} has ${stored.get(user)} for ${user}, who read ${kept}`,
      );
    for (const [user, seq] of stored) {
      // A stock client keeps an event until it is connected again, so a mark of a deleted log may arrive in the next one.
      const requests = [...this.#known.values()].filter((known) => known.room === room && known.user === user);
      const asked = Math.max(0, ...requests.map((known) => known.asked));
      this.#demand(seq <= asked, () => `${room} says that ${user} read ${seq}, who asked for ${asked} at most`);
    }
  }

  #demand(isTrue: boolean, problem: () => string): void {
    this.#witness.demand(isTrue, "read", problem);
  }
}
