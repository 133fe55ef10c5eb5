// Collects the effects of a turn (one input and all that follows from it) in order, as data. The shell carries them out when the turn
// ends. Called by all parts of the core.
import type { Closing } from "../wire/closings.ts";
import { ENGINE_NOOP, type Frame } from "../wire/engine-io.ts";
import { encodePayload } from "../wire/polling-payload.ts";
import { batchFrames, hasExtended } from "./frame-batches.ts";
import type { Session } from "./session.ts";

export type Effect =
  /** Each session gets all frames over its WebSocket, in this order. Frames are encoded once for all of them. */
  | { readonly type: "send"; readonly sessions: readonly Session[]; readonly frames: readonly Frame[] }
  /** Answers the poll that waits; the session has one. */
  | { readonly type: "answer-poll"; readonly session: Session; readonly payload: string }
  /** Refuses the poll that waits: a WebSocket carries it by now. */
  | { readonly type: "refuse-poll"; readonly session: Session }
  /** The WebSocket that `probe` came over is from now on the session's. */
  | { readonly type: "adopt"; readonly session: Session; readonly probe: Session }
  | { readonly type: "close"; readonly session: Session; readonly closing: Closing }
  /** The session's state changed: keep its record. */
  | { readonly type: "save"; readonly session: Session };

export interface OutboxPorts {
  apply(effects: readonly Effect[]): void;
  /** A session changed in the turn that ends: state that is kept outside of its record has to be written now. */
  changed(session: Session): void;
  /** A polling client leaves so much unfetched that its session has to end. */
  overflow(session: Session): void;
  /** All that goes out at the end of a turn, before it does. */
  leaving(effects: readonly Effect[]): void;
}

export class Outbox {
  #effects: Effect[] = [];
  #unsaved = new Set<Session>();
  /** Polling sessions that were given something in this turn. */
  #fed = new Set<Session>();
  /** Those of them that were given more than is kept for them. */
  #overfed = new Set<Session>();
  /** Sessions that were touched between turns. */
  #touched = new Set<Session>();
  #depth = 0;
  #isDraining = false;
  readonly #ports: OutboxPorts;

  constructor(ports: OutboxPorts) {
    this.#ports = ports;
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
    if (sessions.length === 0) return;
    if (!sessions.some(({ polling }) => polling)) return this.#push({ type: "send", sessions, frames });
    const overWebSocket = sessions.filter((session) => !this.#feed(session, frames));
    if (overWebSocket.length > 0) this.#push({ type: "send", sessions: overWebSocket, frames });
    else this.#settle();
  }

  #feed(session: Session, frames: readonly Frame[]): boolean {
    if (!session.polling) return false;
    if (this.#overfed.has(session)) return true;
    session.polling.push(frames);
    this.#fed.add(session);
    if (session.polling.isOverflowing && !session.closed) {
      // At once: one turn can send more than an object can hold. The session itself ends with the turn, or the events of its going would
      // overtake those that are being sent.
      session.polling.takeAll();
      this.#overfed.add(session);
    }
    return true;
  }

  /** Answers the waiting poll with queued frames, as many as a poll holds, if there are both. */
  answerPoll(session: Session): void {
    const { polling } = session;
    if (polling?.waitingSinceMs === undefined || polling.isEmpty) return;
    polling.waitingSinceMs = undefined;
    this.#push({ type: "answer-poll", session, payload: encodePayload(polling.take()) });
  }

  /** Ends the waiting poll with the frames that are queued, or with a noop. */
  endPoll(session: Session): void {
    const { polling } = session;
    if (polling?.waitingSinceMs === undefined) return;
    if (polling.isEmpty) polling.push([ENGINE_NOOP]);
    this.answerPoll(session);
  }

  refusePoll(session: Session): void {
    this.#push({ type: "refuse-poll", session });
  }

  adopt(session: Session, probe: Session): void {
    this.#push({ type: "adopt", session, probe });
  }

  close(session: Session, closing: Closing): void {
    this.#push({ type: "close", session, closing });
  }

  /** However often a session changes in a turn, it is saved once. */
  save(session: Session): void {
    this.#unsaved.add(session);
    if (this.#depth === 0) this.#saveAfterwards(session);
  }

  /** Between turns a change may follow the call that announces it, as in `socket.data.score++`. */
  #saveAfterwards(session: Session): void {
    this.#touched.add(session);
    if (this.#touched.size > 1) return;
    void Promise.resolve().then(() =>
      this.turn(() => {
        for (const touched of this.#touched) this.#unsaved.add(touched);
        this.#touched.clear();
      }),
    );
  }

  #push(effect: Effect): void {
    this.#effects.push(effect);
    this.#settle();
  }

  /** An application's asynchronous handler emits between turns: that is a turn of its own. */
  #settle(): void {
    if (this.#depth === 0) this.#drain();
  }

  /** Effects that follow from the effects of the turn, as from a closing, come after all of them. */
  #drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    try {
      while (this.#effects.length + this.#unsaved.size + this.#fed.size > 0) this.#drainOnce();
    } finally {
      this.#isDraining = false;
    }
  }

  #drainOnce(): void {
    this.#depth++;
    try {
      for (const session of this.#overfed) this.#ports.overflow(session);
      this.#overfed.clear();
      // Also of a polling session, which has no record: its client comes back all the same.
      for (const session of this.#unsaved) if (!session.closed) this.#ports.changed(session);
      // Only at the end of a turn, so that one poll takes all frames of the turn.
      for (const session of this.#fed) this.answerPoll(session);
      this.#fed.clear();
    } finally {
      // A turn that never ended would keep back all that is sent from then on.
      this.#depth--;
    }
    // State first: a frame that left must not outlive the state that it tells its client of.
    const saves: Effect[] = [];
    for (const session of this.#unsaved) if (session.isKept) saves.push({ type: "save", session });
    const effects = [...saves, ...(hasExtended(this.#effects) ? batchFrames(this.#effects) : this.#effects)];
    this.#effects = [];
    this.#unsaved = new Set();
    this.#ports.leaving(effects);
    this.#ports.apply(effects);
  }
}
