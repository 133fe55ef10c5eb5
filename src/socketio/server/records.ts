// Sockets at rest: the plain data of a session's record that Socket.IO adds to that of Engine.IO.
import type { SessionRecord } from "../engine/session.ts";
import type { PartialPacket } from "../wire/socket-io.ts";

/** A continuation: the method of the namespace that goes on with a client's answer, and the data that it gets with it. */
export interface AskRecord {
  /** The ack id on the wire. */
  readonly id: number;
  /** A name in the namespace's `continuations`. */
  readonly handler: string;
  readonly data: unknown;
  /** In ms since 1970. */
  readonly dueMs: number;
}

/** The part of a token that is kept with the socket that it let in. */
export interface TokenRecord {
  readonly user: string;
  /** When it ends, in seconds since 1970; absent: never. */
  readonly exp?: number;
  /** When the client gets the notice that it is about to end, in milliseconds since 1970; absent once sent. */
  readonly warnAtMs?: number;
}

/** A socket as it stands in its session's record. */
export interface SocketRecord {
  readonly nsp: string;
  readonly id: string;
  readonly data: unknown;
  readonly channels: readonly string[];
  /** Whether it went on where an earlier connection broke off. */
  readonly recovered?: true;
  /** The private id that the client may recover with. */
  readonly pid?: string;
  /** The questions that the client has not answered yet. */
  readonly asks?: readonly AskRecord[];
  /** The index of the rule that made the namespace, where it was made on demand. */
  readonly rule?: number;
  /** The token that let it in; absent where anybody may come in. */
  readonly token?: TokenRecord;
}

/** A Socket.IO session at rest. */
export interface SocketSessionRecord extends SessionRecord {
  readonly sockets: readonly SocketRecord[];
  /** Since when the session is in no namespace and a deadline runs, in milliseconds since 1970. */
  readonly unjoinedSinceMs?: number;
  readonly partial?: PartialPacket;
  /** The next ack id that it is asked under, once it was asked anything. */
  readonly nextAckId?: number;
}

/** The record of a session whose state leaves no room for a packet that is half received (SIO-9). */
export function withoutPartial({ partial: _partial, ...record }: SessionRecord & { partial?: unknown }): SessionRecord {
  return record;
}
