// One Engine.IO connection. Its record is all that survives sleep, so whatever matters about a
// connection is in there; the rest of this object may vanish at any await.
import type { Closing } from "../wire/closings.ts";
import { frameBytes, type Frame } from "../wire/engine-io.ts";
import type { Identity } from "../../protocol/identity.ts";
import type { PartialPacket } from "../wire/socket-io.ts";
import type { AskRecord } from "../server/acks.ts";
import type { PollQueue } from "./poll-queue.ts";
import type { Socket } from "../server/socket.ts";
import type { TokenRecord } from "../server/token-life.ts";
import { Reading } from "./unread.ts";

/** Java, Swift and Rust clients read ack ids as numbers of 32 bits, one of which is the sign. */
const ACK_IDS = 2 ** 31;

/** One empty list for all: most sessions have nothing under way for most of their life. */
export const NOTHING: readonly never[] = [];

/** How a connection came in: fixed at the upgrade, the same for all sockets of a session. */
export interface Handshake {
  /** The client's address as the front server saw it. */
  readonly address: string;
  /** Parameters of the request URL. */
  readonly query: Readonly<Record<string, string>>;
  /** Whether the client knows connection state recovery. */
  readonly canRecover?: boolean;
  /** When the session was opened, in milliseconds since 1970. */
  readonly issued: number;
  /** Whom the front server vouches for, if the request carried a token. */
  readonly identity?: Identity;
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
  /** What was asked of the client and is not answered yet. */
  readonly asks?: readonly AskRecord[];
  /** Which rule made the namespace, where it was made on demand. */
  readonly rule?: number;
  /** The token that let it in; absent where anybody may come in. */
  readonly token?: TokenRecord;
}

/** A session at rest: plain data that a structured clone carries, at most 16 KiB with everything in it. */
export interface SessionRecord {
  /** Version of this shape; a record of another version is not restored. */
  readonly v: 1;
  readonly sid: string;
  readonly handshake: Handshake;
  readonly sockets: readonly SocketRecord[];
  /** Its last sign of life, as far as it did not go to the runtime; in milliseconds since 1970. */
  readonly seenAtMs?: number;
  /** Since when the session is in no namespace and a deadline runs, in milliseconds since 1970. */
  readonly strangerSinceMs?: number;
  readonly partial?: PartialPacket;
  /** The next ack id that it is asked under, once it was asked anything. */
  readonly nextAckId?: number;
  /** Whether its WebSocket carries the extensions (EXT-1). */
  readonly isExtended?: true;
  readonly setsBeat?: true;
  /** When it was pinged last, once it was; in milliseconds since 1970. */
  readonly pingedAtMs?: number;
}

/** The record of a session whose state leaves no room for a packet that is half received (SIO-9). */
export function withoutPartial({ partial: _partial, ...record }: SessionRecord): SessionRecord {
  return record;
}

export class Session {
  readonly sid: string;
  readonly handshake: Handshake;
  /** Joined namespaces, by name. */
  readonly sockets = new Map<string, Socket>();
  /** Namespaces whose CONNECT is being decided. */
  connecting: readonly string[] = NOTHING;
  strangerSinceMs: number | undefined;
  closed = false;
  partial: PartialPacket | undefined;
  /** Present while the session is carried by long-polling; without it there is a WebSocket. */
  polling: PollQueue | undefined;
  /** The WebSocket that wants to take over from long-polling, as a session that carries nothing else. */
  probe: Session | undefined;
  /** Whether the probe was told that it may take over: polls end at once from then on. */
  isUpgrading = false;
  /** Whether its WebSocket carries the extensions (EXT-1). */
  isExtended = false;
  /** Whether the beat of its room's pings begins with its first one, and that has not come yet (EIO-7). */
  setsBeat = false;
  /** The session that this one is the probe of. */
  probeOf: Session | undefined;
  /** Of a probe whose session ended before it took over: what its client has still to hear, and why it ended. */
  farewell: { readonly frames: readonly Frame[]; readonly closing: Closing } | undefined;
  /** Last sign of life that the core itself saw; heartbeats that the runtime absorbs are not in it. */
  seenAtMs: number;
  pingedAtMs: number;
  /** The last pong that came so far; those that the runtime absorbs do not. */
  pongedAtMs = 0;
  /** What it was given over its WebSocket and may not have read (EIO-10). */
  readonly reading = new Reading();
  /** Whether it was closed from this side with so much unread that the closing may never arrive. */
  isLingering = false;
  nextAckId: number | undefined;

  constructor(sid: string, handshake: Handshake, seenAtMs: number) {
    this.sid = sid;
    this.handshake = handshake;
    this.seenAtMs = seenAtMs;
    this.pingedAtMs = seenAtMs;
  }

  /**
   * Begins where no earlier session of the client has come to: what that was asked, a client may still answer over
   * its next connection.
   */
  takeAckId(): number {
    const id = this.nextAckId ?? this.handshake.issued % ACK_IDS;
    this.nextAckId = (id + 1) % ACK_IDS;
    return id;
  }

  /** A CONNECT to the namespace came. */
  deciding(nsp: string): void {
    this.connecting = [...this.connecting, nsp];
  }

  /** It was accepted or refused. */
  decided(nsp: string): void {
    const others = this.connecting.filter((other) => other !== nsp);
    this.connecting = others.length > 0 ? others : NOTHING;
  }

  /** Whether it has a record worth keeping: only what an open WebSocket carries survives sleep. */
  get isKept(): boolean {
    return !this.closed && !this.polling && !this.probeOf;
  }
}

/**
 * A larger half-received packet is not kept: if the object sleeps before the rest of it comes, the rest
 * has nothing to belong to, and the session ends with a parse error (SIO-9).
 */
const PARTIAL_KEPT_BYTES_MAX = 8192;

/** Whether it survives the sleep of its session. */
export function isKeptAsleep({ frames }: PartialPacket): boolean {
  return frames.reduce((bytes, frame) => bytes + frameBytes(frame), 0) <= PARTIAL_KEPT_BYTES_MAX;
}
