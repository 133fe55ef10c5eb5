// One Engine.IO connection. Its record is all that survives sleep; everything else in the object may vanish at any await.
// Created by the layer above (session-server.ts), which extends it with its own state.
import type { Closing } from "../wire/closings.ts";
import type { Frame } from "../wire/engine-io.ts";
import { SendWindow } from "./backpressure.ts";
import type { Identity } from "./identity.ts";
import type { PollQueue } from "./poll-queue.ts";

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
  /** The identity that the front server verified, if the request carried a token. */
  readonly identity?: Identity;
}

/** A session at rest: plain data that a structured clone carries, at most 16 KiB with what the layer above adds. */
export interface SessionRecord {
  /** Version of this shape; a record of another version is not restored. */
  readonly v: 1;
  readonly sid: string;
  readonly handshake: Handshake;
  /** Its last sign of life, as far as the core saw it; in milliseconds since 1970. */
  readonly seenAtMs?: number;
  /** Whether its WebSocket carries the extensions (EXT-1). */
  readonly isExtended?: true;
  readonly setsBeat?: true;
  /** When it was pinged last, once it was; in milliseconds since 1970. */
  readonly pingedAtMs?: number;
}

export class Session {
  readonly sid: string;
  readonly handshake: Handshake;
  closed = false;
  /** Present while the session is carried by long-polling; without it there is a WebSocket. */
  polling: PollQueue | undefined;
  /** The WebSocket that wants to take over from long-polling, as a session that carries nothing else. */
  probe: Session | undefined;
  /** Whether the server has answered the probe: polls end at once from then on. */
  isUpgrading = false;
  /** Whether its WebSocket carries the extensions (EXT-1). */
  isExtended = false;
  /** Whether its first ping sets the rhythm of the room's pings, and has not been sent yet (EIO-7). */
  setsBeat = false;
  /** The session that this one is the probe of. */
  probeOf: Session | undefined;
  /** Of a probe whose session ended before it took over: the frames that its client has not received, and the close reason. */
  final: { readonly frames: readonly Frame[]; readonly closing: Closing } | undefined;
  /** Last sign of life that the core itself saw; heartbeats that the runtime absorbs are not in it. */
  seenAtMs: number;
  pingedAtMs: number;
  /** The last pong that the core saw; those that the runtime absorbs are not in it. */
  pongedAtMs = 0;
  /** The bytes sent over its WebSocket that it may not have read (EIO-10). */
  readonly sendWindow = new SendWindow();
  /** Whether it was closed from this side with so much unread that the closing may never arrive. */
  isLingering = false;

  constructor(sid: string, handshake: Handshake, seenAtMs: number) {
    this.sid = sid;
    this.handshake = handshake;
    this.seenAtMs = seenAtMs;
    this.pingedAtMs = seenAtMs;
  }

  /** Whether it has a record worth keeping: only what an open WebSocket carries survives sleep. */
  get isKept(): boolean {
    return !this.closed && !this.polling && !this.probeOf;
  }

  toRecord(): SessionRecord {
    const { sid, handshake, seenAtMs, isExtended, setsBeat, pingedAtMs } = this;
    return {
      v: 1,
      sid,
      handshake,
      seenAtMs,
      ...(isExtended && { isExtended }),
      ...(setsBeat && { setsBeat }),
      ...(pingedAtMs > handshake.issued && { pingedAtMs }),
    };
  }

  restore(record: SessionRecord): void {
    this.seenAtMs = record.seenAtMs ?? record.handshake.issued;
    this.isExtended = record.isExtended ?? false;
    this.setsBeat = record.setsBeat ?? false;
    this.pingedAtMs = record.pingedAtMs ?? record.handshake.issued;
    this.sendWindow.restored();
  }
}
