// A session that speaks Socket.IO: the sockets that it has, one for each namespace that it joined.
import { frameBytes } from "../wire/engine-io.ts";
import type { PartialPacket } from "../wire/socket-io.ts";
import { Session, type SessionRecord } from "../engine/session.ts";
import type { SocketSessionRecord } from "./records.ts";
import type { Socket } from "./socket.ts";

/** Java, Swift and Rust clients read ack ids as numbers of 32 bits, one of which is the sign. */
const ACK_IDS = 2 ** 31;

/**
 * A larger half-received packet is not kept: if the object sleeps before the rest of it comes, the rest
 * has nothing to belong to, and the session ends with a parse error (SIO-9).
 */
const PARTIAL_KEPT_BYTES_MAX = 8192;

/** One empty list for all: most sessions have nothing under way for most of their life. */
export const NOTHING: readonly never[] = [];

export class SocketSession extends Session {
  /** By the name of the namespace. */
  readonly sockets = new Map<string, Socket>();
  /** Namespaces whose CONNECT is being decided. */
  connecting: readonly string[] = NOTHING;
  unjoinedSinceMs: number | undefined;
  partial: PartialPacket | undefined;
  #nextAckId: number | undefined;

  /**
   * Begins with an id that no earlier session of the client has reached: a client may answer what that was asked over its next
   * connection.
   */
  takeAckId(): number {
    const id = this.#nextAckId ?? this.handshake.issued % ACK_IDS;
    this.#nextAckId = (id + 1) % ACK_IDS;
    return id;
  }

  /** A CONNECT to the namespace came. */
  beginConnect(nsp: string): void {
    this.connecting = [...this.connecting, nsp];
  }

  /** The CONNECT was accepted or refused. */
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
      ...(partial && isKeptAsleep(partial) && { partial }),
      ...(nextAckId !== undefined && { nextAckId }),
    };
  }

  /** All but the sockets, which need their namespaces. */
  override restore(record: SessionRecord): void {
    super.restore(record);
    const { partial, nextAckId } = record as SocketSessionRecord;
    this.partial = partial;
    this.#nextAckId = nextAckId;
  }
}

function isKeptAsleep({ frames }: PartialPacket): boolean {
  return frames.reduce((bytes, frame) => bytes + frameBytes(frame), 0) <= PARTIAL_KEPT_BYTES_MAX;
}
