// Accepts, restores, saves, sends over and closes the WebSockets of an object, and knows the session of each. Called by socket-object.ts
// and connection-requests.ts.
import { closeTcp } from "../../src/rpc/tcp-connections.ts";
import { CLOSINGS } from "../../src/socketio/wire/closings.ts";
import type { Frame } from "../../src/socketio/wire/engine-io.ts";
import type { Session, SessionRecord } from "../../src/socketio/engine/session.ts";
import { UnjoinedQuota } from "../../src/socketio/engine/unjoined-quota.ts";
import { withoutPartial } from "../../src/socketio/server/records.ts";

/** LIM-5: one for all objects of an isolate, because the memory of unjoined sessions adds up. */
export const UNJOINED = new UnjoinedQuota();

/** The attachment of a WebSocket that wants to take over from long-polling. */
const PROBE = { isProbe: true } as const;

/** The code of a connection that ended without a closing frame (RFC 6455, section 7.4.1). */
export const CODE_OF_NONE = 1006;

/** Numbers the ids of strays in `UNJOINED`. */
let strayCount = 0;

export class WebSockets {
  readonly #ctx: DurableObjectState;
  readonly #webSocketBySession = new Map<Session, WebSocket>();
  readonly #sessionByWebSocket = new Map<WebSocket, Session>();
  /**
   * Closed WebSockets that carry no live session, each with its id in `UNJOINED`: the live session uses another WebSocket, or the takeover
   * was too late. `#sessionByWebSocket` keeps only the placeholder that is counted until they are gone (LIM-1). Their frames take memory
   * meanwhile (LIM-5).
   */
  readonly #strayIds = new WeakMap<WebSocket, string>();

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
  }

  get isEmpty(): boolean {
    return this.#sessionByWebSocket.size === 0;
  }

  /** @param tcpId becomes a tag of the WebSocket, which survives sleep */
  accept(ws: WebSocket, tcpId: string | undefined): void {
    this.#ctx.acceptWebSocket(ws, tcpId === undefined ? [] : [tcpId]);
  }

  acceptProbe(ws: WebSocket, tcpId: string | undefined, probe: Session): void {
    this.accept(ws, tcpId);
    ws.serializeAttachment(PROBE);
    this.link(probe, ws);
  }

  /**
   * Accepts a WebSocket whose session already uses another one, and closes it at once. Its client sees the reason, as on Node, which a refused
   * upgrade could not give. It hibernates, so that a peer that never answers the closing does not keep the object awake.
   * @param session a placeholder that counts until the WebSocket is gone
   */
  acceptStray(ws: WebSocket, tcpId: string | undefined, session: Session): void {
    this.accept(ws, tcpId);
    this.finishClose(ws, CLOSINGS.protocolViolation.code, "already upgraded");
    this.#sessionByWebSocket.set(ws, session);
    this.#countAsStray(ws, session);
  }

  #countAsStray(ws: WebSocket, { handshake }: Session): void {
    const id = `stray ${strayCount++}`;
    this.#strayIds.set(ws, id);
    UNJOINED.add(id, handshake.address, { nowMs: Date.now(), joinMs: 0 });
  }

  link(session: Session, ws: WebSocket): void {
    this.#webSocketBySession.set(session, ws);
    this.#sessionByWebSocket.set(ws, session);
  }

  sessionOf(ws: WebSocket): Session | undefined {
    return this.#sessionByWebSocket.get(ws);
  }

  /** Separates a WebSocket from its session for good, and erases its attachment. */
  forget(ws: WebSocket): void {
    const session = this.#sessionByWebSocket.get(ws);
    this.#sessionByWebSocket.delete(ws);
    if (session) this.#webSocketBySession.delete(session);
    ws.serializeAttachment(null);
  }

  /** Called when the transport is gone. */
  onGone(ws: WebSocket): void {
    const id = this.#strayIds.get(ws);
    if (id !== undefined) UNJOINED.remove(id);
  }

  /** @param restore called with the record of a WebSocket that was open when the object slept */
  restore(ws: WebSocket, restore: (record: SessionRecord) => void): void {
    const record = ws.deserializeAttachment() as SessionRecord | typeof PROBE | null;
    // The server has closed it, and waits for the answer of its peer.
    if (record === null) return;
    // The polling session that it should take over ended with the last instance of the object.
    if ("isProbe" in record) return this.finishClose(ws, CLOSINGS.protocolViolation.code, "session unknown");
    if (record.v === 1) restore(record);
    else this.finishClose(ws, CLOSINGS.restart.code, CLOSINGS.restart.reason);
  }

  /** Closes all WebSockets of an object that cannot serve them now; their clients come back. */
  sendAway(): void {
    const { code, reason } = CLOSINGS.restart;
    for (const ws of this.#ctx.getWebSockets()) this.finishClose(ws, code, reason);
  }

  /** The last pong of the session that the runtime absorbed, in ms since 1970. */
  lastPongAtMs(session: Session): number | undefined {
    const ws = this.#webSocketBySession.get(session);
    return ws && this.#ctx.getWebSocketAutoResponseTimestamp(ws)?.getTime();
  }

  send(session: Session, frames: readonly Frame[]): void {
    const ws = this.#webSocketBySession.get(session);
    try {
      for (const frame of frames) ws?.send(frame);
    } catch {
      // It is closing; `webSocketClose` follows and cleans up.
    }
  }

  /** Gives the WebSocket of the probe to the session. */
  adopt(session: Session, probe: Session): void {
    const ws = this.#webSocketBySession.get(probe);
    if (!ws) return;
    this.forget(ws);
    this.link(session, ws);
  }

  close(session: Session, { code, reason }: { code: number; reason: string }): void {
    const ws = this.#webSocketBySession.get(session);
    if (!ws) return;
    this.forget(ws);
    // LIM-1: the server counts it until it is gone.
    if (session.isLingering) this.#sessionByWebSocket.set(ws, session);
    if (session.probeOf) this.#countAsStray(ws, session);
    this.finishClose(ws, code, reason);
  }

  /** @throws Error when the record is too large, or no plain data */
  save(session: Session): void {
    const ws = this.#webSocketBySession.get(session);
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
   * Closes a WebSocket without a session, or answers the closing of its peer, because the runtime does not answer for hibernating
   * WebSockets.
   */
  finishClose(ws: WebSocket, code: number, reason: string): void {
    // LIM-6: under `npm run serve`, scripts/serve/entry.js cuts the TCP connection 5 s later.
    for (const tcpId of this.#ctx.getTags(ws)) closeTcp(tcpId);
    // Both codes mean that the peer is gone.
    if (code === CODE_OF_NONE || code === 1015) return;
    try {
      if (code === 1005) ws.close();
      else ws.close(code, reason);
    } catch {
      // It was closed already, perhaps by the peer at the same moment.
    }
  }
}
