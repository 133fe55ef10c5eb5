// Sessions in no namespace: newcomers before their CONNECT, and those put out of their last one. A deadline
// runs for each, so that nobody holds a connection for nothing (SIO-1).
import { CLOSINGS, TRANSPORT_CLOSE, TRANSPORT_ERROR, type Closing } from "../wire/closings.ts";
import type { Deadline, Deadlines } from "../../clock/deadlines.ts";
import type { ServerPorts } from "./session-server.ts";
import type { Session } from "../engine/session.ts";

type StrangerPorts = Pick<ServerPorts, "now" | "unjoined">;

/** A CONNECT follows its upgrade after a round trip: the object waits for it awake, which costs less than an alarm and its undoing. */
const CONNECT_USUAL_MS = 1000;

export class Strangers {
  readonly #timeoutMs: number;
  readonly #ports: StrangerPorts;
  readonly #sessions = new Set<Session>();
  /** Those whose CONNECT could not be decided. */
  readonly #putOff = new WeakSet<Session>();
  readonly #deadline: Deadline;

  /** @param close ends a session whose time is over */
  constructor(
    timeoutMs: number,
    deadlines: Deadlines,
    ports: StrangerPorts,
    close: (session: Session, closing: Closing) => void,
  ) {
    this.#timeoutMs = timeoutMs;
    this.#ports = ports;
    this.#deadline = deadlines.add("connect", (nowMs) => this.#expire(nowMs, close), {
      alarmWithinMs: timeoutMs - CONNECT_USUAL_MS,
    });
  }

  add(session: Session, sinceMs: number): void {
    session.strangerSinceMs = sinceMs;
    this.#sessions.add(session);
    const { sid, handshake } = session;
    // Who left a namespace, or comes with a token, has proved who they are.
    if (sinceMs === handshake.issued && handshake.identity === undefined)
      this.#ports.unjoined?.add(sid, handshake.address, { nowMs: sinceMs, joinMs: this.#timeoutMs });
    this.#deadline.pull(sinceMs + this.#timeoutMs);
  }

  /**
   * SIO-13: its client is to come back when trying again may help, and hears nothing until then.
   * @param ms how long that may take, if it passes at all
   * @returns whether it is so
   */
  putOff(session: Session, ms: number | undefined): boolean {
    if (ms === undefined || session.sockets.size > 0) return false;
    const dueMs = Math.min(this.#ports.now() + ms, this.#timeoutMs + (session.strangerSinceMs ?? Infinity));
    session.strangerSinceMs = dueMs - this.#timeoutMs;
    this.#putOff.add(session);
    this.#sessions.add(session);
    this.#deadline.pull(dueMs);
    return true;
  }

  /** It joined a namespace. */
  joined(session: Session): void {
    this.#ports.unjoined?.remove(session.sid);
    this.#remove(session);
  }

  closed(session: Session, closing: Closing): void {
    const isGone = session.polling !== undefined || closing === TRANSPORT_CLOSE || closing === TRANSPORT_ERROR;
    if (isGone) this.#ports.unjoined?.remove(session.sid);
    else this.#ports.unjoined?.closing(session.sid, this.#ports.now());
    this.#remove(session);
  }

  #remove(session: Session): void {
    session.strangerSinceMs = undefined;
    this.#sessions.delete(session);
    let sinceMs = Infinity;
    for (const { strangerSinceMs } of this.#sessions) sinceMs = Math.min(sinceMs, strangerSinceMs!);
    if (sinceMs === Infinity) this.#deadline.clear();
    else this.#deadline.set(sinceMs + this.#timeoutMs);
  }

  #expire(nowMs: number, close: (session: Session, closing: Closing) => void): void {
    for (const session of this.#sessions) {
      const dueMs = session.strangerSinceMs! + this.#timeoutMs;
      if (dueMs <= nowMs) close(session, this.#putOff.has(session) ? CLOSINGS.tryLater : CLOSINGS.connectTimeout);
      else this.#deadline.pull(dueMs);
    }
  }
}
