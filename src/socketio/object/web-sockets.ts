// Accepts, restores, saves, sends over and closes the WebSockets of an object, and knows the session of each. Called by socket-object.ts,
// connection-requests.ts and internals.ts.
import { tcpHost, type TcpHost } from "../../rpc/tcp-connections.ts";
import { CLOSINGS } from "../wire/closings.ts";
import type { Frame } from "../wire/engine-io.ts";
import type { Session, SessionRecord } from "../engine/session.ts";
import { UnjoinedQuota } from "../engine/unjoined-quota.ts";
import { withoutPartial, type SocketSessionRecord } from "../server/records.ts";

/** LIM-5: one for all objects of an isolate, because the memory of unjoined sessions adds up. */
export const UNJOINED = new UnjoinedQuota();

/** The attachment of a WebSocket that wants to take over from long-polling. */
const PROBE = { isProbe: true } as const;

/** The code of a connection that ended without a closing frame (RFC 6455, section 7.4.1). */
export const CODE_OF_NONE = 1006;

/** Numbers the ids of orphans in `UNJOINED`. */
let orphanCount = 0;

export class WebSockets {
  readonly #ctx: DurableObjectState;
  readonly #sessionByWebSocket = new Map<WebSocket, Session>();
  /**
   * Closed WebSockets that carry no live session, each with its id in `UNJOINED`: the live session uses another WebSocket, or the takeover
   * was too late. `#sessionByWebSocket` keeps only the placeholder that is counted until they are gone (LIM-1). Their frames take memory
   * meanwhile (LIM-5).
   */
  readonly #orphanIds = new WeakMap<WebSocket, string>();
  /** Frames of WebSockets whose responses have not left yet. */
  readonly #early = new Map<WebSocket, Frame[]>();

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
  }

  get isEmpty(): boolean {
    return this.#sessionByWebSocket.size === 0;
  }

  /**
   * Accepts a WebSocket. Its first frames wait for a timer of 0 ms, which rings when the runtime has passed the response on.
   * A frame that comes before starts the pumps of workerd in a way that takes 9 KB more for as long as the connection lives.
   * @param tcpId becomes a tag of the WebSocket, which survives sleep
   */
  accept(ws: WebSocket, tcpId: string | undefined): void {
    this.#ctx.acceptWebSocket(ws, tcpId === undefined ? [] : [tcpId]);
    this.#early.set(ws, []);
    setTimeout(() => this.#sendEarly(ws), 0);
  }

  #sendEarly(ws: WebSocket): void {
    const frames = this.#early.get(ws);
    if (!frames) return;
    this.#early.delete(ws);
    sendAll(ws, frames);
  }

  acceptProbe(ws: WebSocket, tcpId: string | undefined, probe: Session): void {
    this.accept(ws, tcpId);
    ws.serializeAttachment(PROBE);
    this.pair(probe, ws);
  }

  /**
   * Accepts a WebSocket whose session already uses another one, and closes it at once. Its client sees the reason, as on Node, which a refused
   * upgrade could not give. It hibernates, so that a peer that never answers the closing does not keep the object awake.
   * @param session a placeholder that counts until the WebSocket is gone
   */
  acceptOrphan(ws: WebSocket, tcpId: string | undefined, session: Session): void {
    this.accept(ws, tcpId);
    this.finishClose(ws, CLOSINGS.protocolViolation.code, "already upgraded");
    this.#sessionByWebSocket.set(ws, session);
    this.#countAsOrphan(ws, session);
  }

  #countAsOrphan(ws: WebSocket, { handshake }: Session): void {
    const id = `orphan ${orphanCount++}`;
    this.#orphanIds.set(ws, id);
    UNJOINED.add(id, handshake.address, { nowMs: Date.now(), joinMs: 0 });
  }

  pair(session: Session, ws: WebSocket): void {
    session.connection = ws;
    this.#sessionByWebSocket.set(ws, session);
  }

  sessionOf(ws: WebSocket): Session | undefined {
    return this.#sessionByWebSocket.get(ws);
  }

  /** Separates a WebSocket from its session for good, and erases its attachment. */
  forget(ws: WebSocket): void {
    const session = this.#sessionByWebSocket.get(ws);
    this.#sessionByWebSocket.delete(ws);
    if (session) session.connection = undefined;
    ws.serializeAttachment(null);
  }

  /** Called when the transport is gone. */
  onGone(ws: WebSocket): void {
    const id = this.#orphanIds.get(ws);
    if (id !== undefined) UNJOINED.remove(id);
    this.#tell(ws, (host, id) => host.gone(id));
  }

  #tell(ws: WebSocket, event: (host: TcpHost, id: string) => void): void {
    const host = tcpHost();
    if (host) for (const id of this.#ctx.getTags(ws)) event(host, id);
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
    const ws = webSocketOf(session);
    return ws && this.#ctx.getWebSocketAutoResponseTimestamp(ws)?.getTime();
  }

  send(session: Session, frames: readonly Frame[]): void {
    const ws = webSocketOf(session);
    if (!ws) return;
    // Mostly empty, and each frame to each session passes here.
    const early = this.#early.size > 0 ? this.#early.get(ws) : undefined;
    if (early) early.push(...frames);
    else sendAll(ws, frames);
  }

  /** Gives the WebSocket of the probe to the session. */
  adopt(session: Session, probe: Session): void {
    const ws = webSocketOf(probe);
    if (!ws) return;
    this.forget(ws);
    this.pair(session, ws);
  }

  close(session: Session, { code, reason }: { code: number; reason: string }): void {
    const ws = webSocketOf(session);
    if (!ws) return;
    this.forget(ws);
    // LIM-1: the server counts it until it is gone.
    if (session.isHalfClosed) this.#sessionByWebSocket.set(ws, session);
    if (session.probeOf) this.#countAsOrphan(ws, session);
    this.finishClose(ws, code, reason);
  }

  /**
   * @param looseMax TCP connections of one network that the server need not cut (LIM-6); 0 is no limit
   * @throws Error when the record is too large, or no plain data
   */
  save(session: Session, looseMax: number): void {
    const ws = webSocketOf(session);
    if (!ws) return;
    const record = session.toRecord();
    try {
      ws.serializeAttachment(record);
    } catch (error) {
      if (!("partial" in record)) throw error;
      ws.serializeAttachment(withoutPartial(record));
    }
    const { sockets } = record as Partial<SocketSessionRecord>;
    if (sockets?.length) this.#tell(ws, (host, id) => host.joined(id, session.handshake.address, looseMax));
  }

  /**
   * Closes a WebSocket without a session, or answers the closing of its peer, because the runtime does not answer for hibernating
   * WebSockets.
   */
  finishClose(ws: WebSocket, code: number, reason: string): void {
    this.#sendEarly(ws);
    // LIM-6: under `npm run serve`, scripts/serve/entry.js cuts the TCP connection 5 s later, unless it is loose.
    this.#tell(ws, (host, id) => host.closed(id));
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

const webSocketOf = ({ connection }: Session): WebSocket | undefined => connection as WebSocket | undefined;

function sendAll(ws: WebSocket, frames: readonly Frame[]): void {
  try {
    for (const frame of frames) ws.send(frame);
  } catch {
    // It is closing; `webSocketClose` follows and cleans up.
  }
}
