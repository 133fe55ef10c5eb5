// The WebSockets of an object, each with the session that it carries: accepts, restores, saves, sends and closes. Called by socket-object.ts and connection-requests.ts.
import { closeLine } from "../../src/rpc/lines.ts";
import { CLOSINGS } from "../../src/socketio/wire/closings.ts";
import type { Frame } from "../../src/socketio/wire/engine-io.ts";
import type { Session, SessionRecord } from "../../src/socketio/engine/session.ts";
import { UnjoinedQuota } from "../../src/socketio/engine/unjoined-quota.ts";
import { withoutPartial } from "../../src/socketio/server/records.ts";

/** LIM-5: shared by all objects of an isolate, because the memory of unjoined sessions adds up. */
export const UNJOINED = new UnjoinedQuota();

/** The attachment of a WebSocket that wants to take over from long-polling. */
const PROBE = { isProbe: true } as const;

/** The code of a connection that ended without a closing frame (RFC 6455, section 7.4.1). */
export const CODE_OF_NONE = 1006;

let strays = 0;

export class WebSockets {
  readonly #ctx: DurableObjectState;
  readonly #bySession = new Map<Session, WebSocket>();
  readonly #sessions = new Map<WebSocket, Session>();
  /**
   * Closed WebSockets that carry no session: another one does already, or they did not take over in time. Until they are gone they hold
   * the frames they have sent, so they count as unjoined sessions (LIM-5).
   */
  readonly #strays = new WeakMap<WebSocket, string>();

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
  }

  get isEmpty(): boolean {
    return this.#sessions.size === 0;
  }

  /** @param line the TCP connection under it, where the server can cut that: a tag of the WebSocket, which survives sleep */
  accept(ws: WebSocket, line: string | undefined): void {
    this.#ctx.acceptWebSocket(ws, line === undefined ? [] : [line]);
  }

  acceptProbe(ws: WebSocket, line: string | undefined, probe: Session): void {
    this.accept(ws, line);
    ws.serializeAttachment(PROBE);
    this.link(probe, ws);
  }

  /**
   * Accepts a WebSocket for a session that has another one, and closes it at once: its client sees the reason in the closing, as on Node,
   * which it could not in a refused upgrade. Hibernating even so: a peer that never answers the closing must not keep the object awake.
   * @param session is the one that the server is given when it is gone
   */
  acceptStray(ws: WebSocket, line: string | undefined, session: Session): void {
    this.accept(ws, line);
    this.finishClose(ws, CLOSINGS.protocolViolation.code, "already upgraded");
    this.#sessions.set(ws, session);
    this.#stray(ws, session);
  }

  #stray(ws: WebSocket, { handshake }: Session): void {
    const id = `stray ${strays++}`;
    this.#strays.set(ws, id);
    UNJOINED.add(id, handshake.address, { nowMs: Date.now(), joinMs: 0 });
  }

  link(session: Session, ws: WebSocket): void {
    this.#bySession.set(session, ws);
    this.#sessions.set(ws, session);
  }

  sessionOf(ws: WebSocket): Session | undefined {
    return this.#sessions.get(ws);
  }

  /** Unties a WebSocket from its session, which further events of the WebSocket do not bring back. */
  forget(ws: WebSocket): void {
    const session = this.#sessions.get(ws);
    this.#sessions.delete(ws);
    if (session) this.#bySession.delete(session);
    ws.serializeAttachment(null);
  }

  /** The transport is gone. */
  gone(ws: WebSocket): void {
    const id = this.#strays.get(ws);
    if (id !== undefined) UNJOINED.remove(id);
  }

  /** @param restore is called with the record of a WebSocket that was open when the object slept */
  restore(ws: WebSocket, restore: (record: SessionRecord) => void): void {
    const record = ws.deserializeAttachment() as SessionRecord | typeof PROBE | null;
    // Without a record it was closed from this side, and only its last goodbye is still due.
    if (record === null) return;
    // The session that it was to take over died with the object's last instance.
    if ("isProbe" in record) return this.finishClose(ws, CLOSINGS.protocolViolation.code, "session unknown");
    if (record.v === 1) restore(record);
    else this.finishClose(ws, CLOSINGS.restart.code, CLOSINGS.restart.reason);
  }

  /** When the runtime last answered a heartbeat of the session, in ms since 1970. */
  lastPongAtMs(session: Session): number | undefined {
    const ws = this.#bySession.get(session);
    return ws && this.#ctx.getWebSocketAutoResponseTimestamp(ws)?.getTime();
  }

  send(session: Session, frames: readonly Frame[]): void {
    const ws = this.#bySession.get(session);
    try {
      for (const frame of frames) ws?.send(frame);
    } catch {
      // It is closing; its closing event follows and cleans up.
    }
  }

  /** The WebSocket of the probe is the session's from now on. */
  adopt(session: Session, probe: Session): void {
    const ws = this.#bySession.get(probe);
    if (!ws) return;
    this.forget(ws);
    this.link(session, ws);
  }

  close(session: Session, { code, reason }: { code: number; reason: string }): void {
    const ws = this.#bySession.get(session);
    if (!ws) return;
    this.forget(ws);
    // The server has to know when it is gone (LIM-1).
    if (session.isLingering) this.#sessions.set(ws, session);
    if (session.probeOf) this.#stray(ws, session);
    this.finishClose(ws, code, reason);
  }

  /** @throws Error when the record is too large, or nothing that a structured clone carries */
  save(session: Session): void {
    const ws = this.#bySession.get(session);
    if (!ws) return;
    const record = session.toRecord();
    try {
      ws.serializeAttachment(record);
    } catch (error) {
      if (!("partial" in record)) throw error;
      ws.serializeAttachment(withoutPartial(record));
    }
  }

  /**
   * Closes a WebSocket that has no session, or closes it from this side too: hibernating ones are not closed by
   * themselves, and the peer waits for the server's half of the closing.
   */
  finishClose(ws: WebSocket, code: number, reason: string): void {
    // LIM-6: it has a while to answer, and then its TCP connection is cut, too.
    for (const line of this.#ctx.getTags(ws)) closeLine(line);
    // Both mean that the peer has gone.
    if (code === CODE_OF_NONE || code === 1015) return;
    try {
      if (code === 1005) ws.close();
      else ws.close(code, reason);
    } catch {
      // It was closed already, or from the other side at the same moment.
    }
  }
}
