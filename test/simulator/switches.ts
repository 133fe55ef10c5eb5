// Checks states of messages that requests switch on and off: pins, and open reports. Where the times of requests and answers prove the order
// of the requests, the room must list a message that was switched on last. Called by curation.ts.
import type { Invariant } from "./invariants.ts";
import { epochOf } from "./offset.ts";
import type { Witness } from "./witness.ts";

interface Asked {
  readonly isOn: boolean;
  /** In ms since the run began. The request took effect between this and its answer, perhaps more than once. */
  readonly askedAtMs: number;
  /** `Infinity` while there is no answer: it may arrive at any time. */
  answeredAtMs: number;
  isDone: boolean;
}

export interface SwitchKind {
  readonly invariant: Invariant;
  readonly on: string;
  readonly off: string;
  /** Whether a deletion of the message switches it off, too. */
  readonly endsWithMessage: boolean;
}

export class Switches {
  readonly #witness: Witness;
  readonly #kind: SwitchKind;
  readonly #byId = new Map<string, Asked[]>();

  constructor(witness: Witness, kind: SwitchKind) {
    this.#witness = witness;
    this.#kind = kind;
  }

  /** Messages of a room about which there were requests, the newest last. */
  idsIn(room: string): string[] {
    return [...this.#byId.keys()].filter((id) => this.#witness.posted(id)?.room === room);
  }

  /** Notes a request of a user who has the right to it. @returns to be called with the answer */
  noteRequest(id: string, isOn: boolean): (answer: unknown) => void {
    const asked: Asked = { isOn, askedAtMs: this.#witness.now(), answeredAtMs: Infinity, isDone: false };
    this.#byId.set(id, [...(this.#byId.get(id) ?? []), asked]);
    const restores = this.#witness.restoresOf(epochOf(id));
    return (answer) => {
      asked.answeredAtMs = this.#witness.now();
      const isOk = (answer as { readonly ok?: true } | undefined)?.ok === true;
      asked.isDone = isOk && this.#witness.restoresOf(epochOf(id)) === restores;
    };
  }

  /** A backup was restored, which may lack later changes. Requests that are under way may still arrive. */
  restored(epoch: string): void {
    for (const [id, all] of this.#byId)
      if (epochOf(id) === epoch)
        this.#byId.set(
          id,
          all.filter(({ answeredAtMs }) => answeredAtMs === Infinity),
        );
  }

  /**
   * @param shown the messages that the room lists
   * @param sinceMs when the room was asked, or sent the list
   */
  check(room: string, shown: ReadonlySet<string>, sinceMs: number): void {
    const { invariant, on, off, endsWithMessage } = this.#kind;
    for (const [id, all] of this.#byId) {
      if (!this.#isThere(room, id)) continue;
      const isOn = isLast(all, true, sinceMs) && !(endsWithMessage && this.#witness.changes.mayBeDeleted(id));
      this.#witness.demand(!isOn || shown.has(id), invariant, () => `${room} lacks ${id}, which was ${on}`);
      const isOff = isLast(all, false, sinceMs);
      this.#witness.demand(!isOff || !shown.has(id), invariant, () => `${room} has ${id}, which was ${off}`);
    }
  }

  /** Whether the message is stored in the room as it is now. */
  #isThere(room: string, id: string): boolean {
    const log = this.#witness.newest(room, epochOf(id));
    const { seq } = this.#witness.posted(id) ?? {};
    return log !== undefined && !log.isErased && seq !== undefined && log.durable.has(seq);
  }
}

/** Whether one of these requests was done by then, and after all requests that would undo it. */
const isLast = (all: readonly Asked[], isOn: boolean, sinceMs: number): boolean =>
  all.some(
    (asked) =>
      asked.isOn === isOn &&
      asked.isDone &&
      asked.answeredAtMs < sinceMs &&
      all.every((other) => other.isOn === isOn || other.answeredAtMs < asked.askedAtMs),
  );
