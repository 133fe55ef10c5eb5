// Who is pinged when, and who is taken for dead. The server pings, as Engine.IO 4 says; the pongs never
// reach this code (the runtime answers them without waking anybody), so the shell is asked for their time.
import { CLOSINGS } from "../protocol/closings.ts";
import { ENGINE_PING } from "../protocol/engine-io.ts";
import type { Deadline, Deadlines } from "./deadlines.ts";
import type { Outbox } from "./outbox.ts";
import type { Session } from "./session.ts";

export interface HeartbeatOptions {
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
}

/**
 * Sessions whose ping is due within this share of the interval are pinged along with the first one. With a
 * half, any two of them meet within an interval, so all sessions of a room come to share one alarm.
 */
const ALIGNMENT = 0.5;

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #sessions: ReadonlyMap<string, Session>;
  readonly #outbox: Outbox;
  readonly #lastPongAtMs: (session: Session) => number | undefined;
  readonly #close: (session: Session, closing: typeof CLOSINGS.pingTimeout) => void;
  readonly #deadline: Deadline;

  constructor(
    options: HeartbeatOptions,
    context: {
      readonly sessions: ReadonlyMap<string, Session>;
      readonly outbox: Outbox;
      readonly deadlines: Deadlines;
      readonly lastPongAtMs: (session: Session) => number | undefined;
      readonly close: (session: Session, closing: typeof CLOSINGS.pingTimeout) => void;
    },
  ) {
    this.#options = options;
    this.#sessions = context.sessions;
    this.#outbox = context.outbox;
    this.#lastPongAtMs = context.lastPongAtMs;
    this.#close = context.close;
    this.#deadline = context.deadlines.add("ping", (nowMs) => this.#beat(nowMs));
  }

  /** A session came, or came back from sleep: its last sign of life stands for its last ping. */
  watch(session: Session): void {
    const seenAtMs = this.#aliveAtMs(session);
    session.seenAtMs = seenAtMs;
    session.pingedAtMs = seenAtMs;
    this.#deadline.pull(seenAtMs + this.#options.pingIntervalMs);
  }

  /** Nobody is left to ping. */
  rest(): void {
    this.#deadline.clear();
  }

  #aliveAtMs(session: Session): number {
    return Math.max(session.seenAtMs, this.#lastPongAtMs(session) ?? 0);
  }

  #beat(nowMs: number): void {
    const { pingIntervalMs, pingTimeoutMs } = this.#options;
    const patienceMs = pingIntervalMs + pingTimeoutMs;
    // In case closing somebody fails: the others are pinged next time.
    this.#deadline.set(nowMs + pingIntervalMs);
    const pinged: Session[] = [];
    let nextAtMs = Infinity;
    for (const session of this.#sessions.values()) {
      const silentMs = nowMs - this.#aliveAtMs(session);
      // A polling session is in memory anyway, so a deadline of its own for it costs nothing.
      const isDead = session.polling ? silentMs >= patienceMs : silentMs > patienceMs;
      if (isDead) {
        this.#close(session, CLOSINGS.pingTimeout);
        continue;
      }
      if (session.pingedAtMs + pingIntervalMs * (1 - ALIGNMENT) <= nowMs) {
        session.pingedAtMs = nowMs;
        pinged.push(session);
      }
      nextAtMs = Math.min(nextAtMs, session.pingedAtMs + pingIntervalMs);
      if (session.polling) nextAtMs = Math.min(nextAtMs, session.seenAtMs + patienceMs);
    }
    this.#outbox.send(pinged, [ENGINE_PING]);
    if (nextAtMs === Infinity) this.rest();
    else this.#deadline.set(nextAtMs);
  }
}
