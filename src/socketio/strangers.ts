// Sessions in no namespace: newcomers before their CONNECT, and those put out of their last one. A deadline
// runs for each, so that nobody holds a connection for nothing (SIO-1).
import type { Deadline, Deadlines } from "./deadlines.ts";
import type { Session } from "./session.ts";

/** A CONNECT follows its upgrade after a round trip: the object waits for it awake, which costs less than an alarm and its undoing. */
const CONNECT_USUAL_MS = 1000;

export class Strangers {
  readonly #timeoutMs: number;
  readonly #sessions = new Set<Session>();
  readonly #deadline: Deadline;

  /** @param close ends a session whose time is over */
  constructor(timeoutMs: number, deadlines: Deadlines, close: (session: Session) => void) {
    this.#timeoutMs = timeoutMs;
    this.#deadline = deadlines.add("connect", (nowMs) => this.#expire(nowMs, close), {
      alarmWithinMs: timeoutMs - CONNECT_USUAL_MS,
    });
  }

  add(session: Session, sinceMs: number): void {
    session.strangerSinceMs = sinceMs;
    this.#sessions.add(session);
    this.#deadline.pull(sinceMs + this.#timeoutMs);
  }

  remove(session: Session): void {
    session.strangerSinceMs = undefined;
    this.#sessions.delete(session);
    let sinceMs = Infinity;
    for (const { strangerSinceMs } of this.#sessions) sinceMs = Math.min(sinceMs, strangerSinceMs!);
    if (sinceMs === Infinity) this.#deadline.clear();
    else this.#deadline.set(sinceMs + this.#timeoutMs);
  }

  #expire(nowMs: number, close: (session: Session) => void): void {
    for (const session of this.#sessions) {
      const dueMs = session.strangerSinceMs! + this.#timeoutMs;
      if (dueMs <= nowMs) close(session);
      else this.#deadline.pull(dueMs);
    }
  }
}
