// A session that speaks Socket.IO: adds a socket for each joined namespace to the session of the engine. Made by server.ts.
import { frameBytes } from "../wire/engine-io.ts";
import type { PartialPacket } from "../wire/socket-io.ts";
import { Session, type SessionRecord } from "../engine/session.ts";
import { DYNAMIC_NAMESPACES_MAX } from "./namespaces.ts";
import type { SocketSessionRecord } from "./records.ts";
import type { Socket } from "./socket.ts";

/** Clients in Java, Swift and Rust read ack ids as 32-bit numbers with a sign. */
const ACK_IDS = 2 ** 31;

/**
 * A larger half-received packet is not stored: if the object sleeps before the rest arrives, that rest ends the session with a parse error
 * (SIO-9).
 */
const PARTIAL_KEPT_BYTES_MAX = 8192;

/** One empty list for all sessions, because most have no CONNECT under way for most of their time. */
export const NOTHING: readonly never[] = [];

export class SocketSession extends Session {
  /** By the name of the namespace. */
  readonly sockets: Map<string, Socket> = new Map();
  /** Namespaces whose CONNECT is being decided. */
  connecting: readonly string[] = NOTHING;
  /** The most namespaces that it has been in, or waited for, at a time. */
  mostNamespaces = 0;
  unjoinedSinceMs: number | undefined;
  partial: PartialPacket | undefined;
  #nextAckId: number | undefined;

  /** Begins with an id that no earlier session of the client has reached, because a client may send an ack over its next connection. */
  takeAckId(): number {
    const id = this.#nextAckId ?? this.handshake.issued % ACK_IDS;
    this.#nextAckId = (id + 1) % ACK_IDS;
    return id;
  }

  /** Called when a CONNECT to the namespace came. */
  beginConnect(nsp: string): void {
    this.connecting = [...this.connecting, nsp];
    const namespaces = Math.min(this.sockets.size + this.connecting.length, DYNAMIC_NAMESPACES_MAX);
    this.mostNamespaces = Math.max(this.mostNamespaces, namespaces);
  }

  /** Called when the CONNECT was accepted or refused. */
  endConnect(nsp: string): void {
    const others = this.connecting.filter((other) => other !== nsp);
    this.connecting = others.length > 0 ? others : NOTHING;
  }

  override toRecord(): SocketSessionRecord {
    const { unjoinedSinceMs, partial } = this;
    const nextAckId = this.#nextAckId;
    return {
      ...super.toRecord(),
      sockets: Array.from(this.sockets.values(), (socket) => socket.toRecord()),
      ...(unjoinedSinceMs !== undefined && { unjoinedSinceMs }),
      ...(partial && fitsRecord(partial) && { partial }),
      ...(nextAckId !== undefined && { nextAckId }),
    };
  }

  /** Restores all but the sockets, which need their namespaces. */
  override restore(record: SessionRecord): void {
    super.restore(record);
    const { partial, nextAckId } = record as SocketSessionRecord;
    this.partial = partial;
    this.#nextAckId = nextAckId;
  }
}

function fitsRecord({ frames }: PartialPacket): boolean {
  return frames.reduce((bytes, frame) => bytes + frameBytes(frame), 0) <= PARTIAL_KEPT_BYTES_MAX;
}
