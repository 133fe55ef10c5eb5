// What the core wants done in the outside world, in order, as data. A turn (one input and all that
// follows from it) collects its effects here; the shell carries them out when the turn ends.
import type { Closing } from "../protocol/closings.ts";
import type { Frame } from "../protocol/engine-io.ts";
import type { Session } from "./session.ts";

export type Effect =
  /** Each session gets all frames, in this order. Frames are encoded once, whoever receives them. */
  | { readonly type: "send"; readonly sessions: readonly Session[]; readonly frames: readonly Frame[] }
  | { readonly type: "close"; readonly session: Session; readonly closing: Closing }
  /** The session's state changed: keep what `Server.record` says of it. */
  | { readonly type: "save"; readonly session: Session };

export class Outbox {
  #effects: Effect[] = [];
  #unsaved = new Set<Session>();
  #depth = 0;
  readonly #apply: (effects: readonly Effect[]) => void;

  constructor(apply: (effects: readonly Effect[]) => void) {
    this.#apply = apply;
  }

  /** Runs one turn; nested turns belong to the outermost one. */
  turn<Result>(run: () => Result): Result {
    this.#depth++;
    try {
      return run();
    } finally {
      if (--this.#depth === 0) this.#drain();
    }
  }

  send(sessions: readonly Session[], frames: readonly Frame[]): void {
    if (sessions.length > 0) this.#push({ type: "send", sessions, frames });
  }

  close(session: Session, closing: Closing): void {
    this.#push({ type: "close", session, closing });
  }

  /** However often a session changes in a turn, it is saved once. */
  save(session: Session): void {
    this.#unsaved.add(session);
    if (this.#depth === 0) this.#drain();
  }

  #push(effect: Effect): void {
    this.#effects.push(effect);
    // An application's asynchronous handler emits between turns: that is a turn of its own.
    if (this.#depth === 0) this.#drain();
  }

  #drain(): void {
    if (this.#effects.length === 0 && this.#unsaved.size === 0) return;
    const effects = this.#effects;
    // State first: a frame that got out must not outlive what it says of its session.
    const saves: Effect[] = [];
    for (const session of this.#unsaved) if (!session.closed) saves.push({ type: "save", session });
    this.#effects = [];
    this.#unsaved = new Set();
    this.#apply([...saves, ...effects]);
  }
}
