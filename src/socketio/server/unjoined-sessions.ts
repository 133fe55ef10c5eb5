// Closes unjoined sessions when their time is over (SIO-1): new ones before their first CONNECT, and those that left their last namespace.
// Called by connects.ts, sockets.ts and server.ts.
import { CLOSINGS, TRANSPORT_CLOSE, TRANSPORT_ERROR, type Closing } from "../wire/closings.ts";
import type { Deadline, Deadlines } from "../../clock/deadlines.ts";
import type { SessionPorts } from "../engine/session-server.ts";
import type { SocketSession } from "./socket-session.ts";

type UnjoinedPorts = Pick<SessionPorts, "now" | "unjoined">;

/** A CONNECT usually follows its upgrade after a round trip. The object waits for it awake, which costs less than an alarm. */
const CONNECT_USUAL_MS = 1000;

export class UnjoinedSessions {
  readonly #timeoutMs: number;
  readonly #ports: UnjoinedPorts;
  readonly #sessions = new Set<SocketSession>();
  /** Those with a CONNECT that could not be decided. */
  readonly #deferred = new WeakSet<SocketSession>();
  readonly #deadline: Deadline;

  /** @param close ends a session whose time is over */
  constructor(
    timeoutMs: number,
    deadlines: Deadlines,
    ports: UnjoinedPorts,
    close: (session: SocketSession, closing: Closing) => void,
  ) {
    this.#timeoutMs = timeoutMs;
    this.#ports = ports;
    this.#deadline = deadlines.add("connect", (nowMs) => this.#expire(nowMs, close), {
      alarmWithinMs: timeoutMs - CONNECT_USUAL_MS,
    });
  }

  add(session: SocketSession, sinceMs: number): void {
    session.unjoinedSinceMs = sinceMs;
    this.#sessions.add(session);
    const { sid, handshake } = session;
    // A session with a token, or one that left a namespace, has an identity.
    if (sinceMs === handshake.issued && handshake.identity === undefined)
      this.#ports.unjoined?.add(sid, handshake.address, { nowMs: sinceMs, joinMs: this.#timeoutMs });
    this.#deadline.pull(sinceMs + this.#timeoutMs);
  }

  /**
   * SIO-13: closes the session when trying again may help, instead of an answer to its CONNECT.
   * @param ms how long the cause may last; `undefined` if it does not pass
   * @returns whether the session will be closed
   */
  defer(session: SocketSession, ms: number | undefined): boolean {
    if (ms === undefined || session.sockets.size > 0) return false;
    const dueMs = Math.min(this.#ports.now() + ms, this.#timeoutMs + (session.unjoinedSinceMs ?? Infinity));
    session.unjoinedSinceMs = dueMs - this.#timeoutMs;
    this.#deferred.add(session);
    this.#sessions.add(session);
    this.#deadline.pull(dueMs);
    return true;
  }

  /** Called when the session joined a namespace. */
  joined(session: SocketSession): void {
    this.#ports.unjoined?.remove(session.sid);
    this.#remove(session);
  }

  closed(session: SocketSession, closing: Closing): void {
    const isGone = session.polling !== undefined || closing === TRANSPORT_CLOSE || closing === TRANSPORT_ERROR;
    if (isGone) this.#ports.unjoined?.remove(session.sid);
    else this.#ports.unjoined?.closing(session.sid, this.#ports.now());
    this.#remove(session);
  }

  #remove(session: SocketSession): void {
    session.unjoinedSinceMs = undefined;
    this.#sessions.delete(session);
    this.#deadline.clear();
    for (const { unjoinedSinceMs } of this.#sessions) this.#deadline.pull(unjoinedSinceMs! + this.#timeoutMs);
  }

  #expire(nowMs: number, close: (session: SocketSession, closing: Closing) => void): void {
    for (const session of this.#sessions) {
      const dueMs = session.unjoinedSinceMs! + this.#timeoutMs;
      if (dueMs <= nowMs) close(session, this.#deferred.has(session) ? CLOSINGS.tryLater : CLOSINGS.connectTimeout);
      else this.#deadline.pull(dueMs);
    }
  }
}
