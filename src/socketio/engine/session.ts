// The state of one Engine.IO connection. Its record survives sleep; everything else in memory may be gone after any await. Created by
// the layer above (see session-server.ts), which extends it with its own state.
import { bundlingOf, type Bundling } from "../wire/bundles.ts";
import type { Closing } from "../wire/closings.ts";
import type { Frame } from "../wire/engine-io.ts";
import { SendWindow } from "./backpressure.ts";
import type { PollQueue } from "./poll-queue.ts";

/** The verified identity of a client, as far as the core needs it. The types of an application's tokens extend it. */
export interface Identity {
  /** User id: the owner of sockets and of what they recover. */
  readonly user: string;
  /** Display name. */
  readonly name: string;
  /** The end of the token, in seconds since 1970; absent: never. */
  readonly exp?: number;
}

/** The facts of the request that opened a session, the same for all its sockets. */
export interface Handshake {
  /** The client's address as the front server saw it. */
  readonly address: string;
  /** Parameters of the request URL. */
  readonly query: Readonly<Record<string, string>>;
  /** Whether the client knows connection state recovery. */
  readonly canRecover?: boolean;
  /** When the session was opened, in milliseconds since 1970. */
  readonly issued: number;
  /** The answer to each CONNECT, if the front server refuses the client in a way that it can read. */
  readonly refusal?: { readonly message: string; readonly data: { readonly code: string } };
  /** The identity that the front server verified, if the request carried a token. */
  readonly identity?: Identity;
}

/** A session as it is stored: plain data (structured clone), at most 16 KiB with the data that the layer above adds. */
export interface SessionRecord {
  /** Version of this shape; a record of another version is not restored. */
  readonly v: 1;
  readonly sid: string;
  readonly handshake: Handshake;
  /** The last sign of life that the core saw, in milliseconds since 1970. */
  readonly seenAtMs?: number;
  /** Whether its WebSocket carries the extensions (EXT-1). */
  readonly isExtended?: true;
  /** Whether its first ping, which comes early, is still due (EIO-7). */
  readonly isPingedEarly?: true;
  /** The time of the last ping, if there was one; in milliseconds since 1970. */
  readonly pingedAtMs?: number;
}

export class Session {
  readonly sid: string;
  readonly handshake: Handshake;
  /** The connection that the shell sends over, if there is one: for the shell alone. */
  connection: unknown;
  closed = false;
  /** Why it is over. */
  closing: Closing | undefined;
  /** Present while the session uses long-polling; otherwise it has a WebSocket. */
  polling: PollQueue | undefined;
  /** The WebSocket that wants to take over from long-polling, as a session of its own without messages. */
  probe: Session | undefined;
  /** Whether the server has answered the probe; from then on a poll waits 50 ms at most. */
  isUpgrading = false;
  /** Whether its WebSocket carries the extensions (EXT-1). */
  isExtended = false;
  /** The namespaces whose events leave in bundles (BUN-1). Kept by the layer above. */
  bundling: Bundling | undefined;
  /** Whether its first ping, which comes early to spread the pings of rooms, is still due (EIO-7). */
  isPingedEarly = false;
  /** The session that this one is the probe of. */
  probeOf: Session | undefined;
  /** Of a probe whose session ended before it took over: takes the frames that its client has not received. */
  takeFinal: (() => readonly Frame[]) | undefined;
  /** The last sign of life that the core saw; pongs that the runtime absorbed are not in it. */
  seenAtMs: number;
  pingedAtMs: number;
  /** The last pong that the core saw; those that the runtime absorbed are not in it. */
  pongedAtMs = 0;
  /** The bytes sent over its WebSocket that it may not have read (EIO-10). */
  readonly sendWindow = new SendWindow();
  /** Whether the server closed it with so many unread bytes that the closing may never arrive. */
  isHalfClosed = false;

  constructor(sid: string, handshake: Handshake, seenAtMs: number) {
    this.sid = sid;
    this.handshake = handshake;
    this.seenAtMs = seenAtMs;
    this.pingedAtMs = seenAtMs;
  }

  /** Whether its record is stored: only sessions over an open WebSocket survive sleep. */
  get isKept(): boolean {
    return !this.closed && !this.polling && !this.probeOf;
  }

  /** Called for a socket whose client takes bundles, before anything is sent to it. */
  bundle(nsp: string, isRecoverable: boolean): void {
    this.bundling = bundlingOf([...(this.bundling?.sockets ?? []), [nsp, isRecoverable]]);
  }

  /** Called when such a socket has left its namespace, and the session goes on. */
  unbundle(nsp: string): void {
    this.bundling = bundlingOf([...(this.bundling?.sockets ?? [])].filter(([other]) => other !== nsp));
  }

  toRecord(): SessionRecord {
    const { sid, handshake, seenAtMs, isExtended, isPingedEarly, pingedAtMs } = this;
    return {
      v: 1,
      sid,
      handshake,
      seenAtMs,
      ...(isExtended && { isExtended }),
      ...(isPingedEarly && { isPingedEarly }),
      ...(pingedAtMs > handshake.issued && { pingedAtMs }),
    };
  }

  restore(record: SessionRecord): void {
    this.seenAtMs = record.seenAtMs ?? record.handshake.issued;
    this.isExtended = record.isExtended ?? false;
    this.isPingedEarly = record.isPingedEarly ?? false;
    this.pingedAtMs = record.pingedAtMs ?? record.handshake.issued;
    this.sendWindow.restored();
  }
}
