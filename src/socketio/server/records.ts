// The stored form of sockets: plain data that Socket.IO adds to a session's record. Used by socket-state.ts, socket-session.ts,
// acks.ts and object/web-sockets.ts.
import type { SessionRecord } from "../engine/session.ts";
import type { PartialPacket } from "../wire/socket-io.ts";

/** An event whose ack the server waits for through sleep, and the continuation that is called with the answer. */
export interface AskRecord {
  /** The ack id on the wire. */
  readonly id: number;
  /** A name in the namespace's `continuations`. */
  readonly handler: string;
  readonly data: unknown;
  /** In ms since 1970. */
  readonly dueMs: number;
}

/** The part of a token that is stored with the socket that it let in. */
export interface TokenRecord {
  readonly user: string;
  /** The end of the token, in seconds since 1970; absent: never. */
  readonly exp?: number;
  /** The time of the notice `TOKEN_EXPIRING`, in milliseconds since 1970; absent once sent. */
  readonly warnAtMs?: number;
}

/** A socket in the record of its session. */
export interface SocketRecord {
  readonly nsp: string;
  readonly id: string;
  readonly data: unknown;
  readonly channels: readonly string[];
  /** Whether the connection was recovered. */
  readonly recovered?: true;
  /** The private id with which the client may recover it. */
  readonly pid?: string;
  /** Whether the client takes bundles. */
  readonly bundles?: true;
  /** Asks that the client has not answered yet. */
  readonly asks?: readonly AskRecord[];
  /** The index of the rule that made the namespace, if it was made on demand. */
  readonly rule?: number;
  /** The token that let it in; absent in namespaces with `authenticate = "anybody"`. */
  readonly token?: TokenRecord;
}

/** The record of a Socket.IO session. */
export interface SocketSessionRecord extends SessionRecord {
  readonly sockets: readonly SocketRecord[];
  /** The time since which the session is unjoined, in milliseconds since 1970; absent while it is in a namespace. */
  readonly unjoinedSinceMs?: number;
  readonly partial?: PartialPacket;
  /** The next ack id of the server, once one was used. */
  readonly nextAckId?: number;
}

/** @returns the record without its half-received packet, for which there is no room (SIO-9) */
export function withoutPartial({ partial: _partial, ...record }: SessionRecord & { partial?: unknown }): SessionRecord {
  return record;
}
