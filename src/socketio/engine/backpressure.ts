// The bytes that were sent over a WebSocket and that its client may not have read: the runtime buffers them without a limit and
// without telling. Frames arrive in order, so the answer to a ping proves that everything before it was read. Sends such a drain ping
// to sessions with many unproven bytes, and ends sessions that stay behind (EIO-10). Called by engine.ts.
import { CLOSINGS, type Closing } from "../wire/closings.ts";
import { Throttle } from "../../clock/throttle.ts";
import { ENGINE_PING } from "../wire/engine-io.ts";
import type { Outbox } from "./outbox.ts";
import type { Session } from "./session.ts";
import type { Given } from "./traffic.ts";

/** Unproven bytes from which on a session is sent a drain ping. */
export const DRAIN_PING_BYTES = 256 * 1024;

/** Bytes that may be unproven while the drain ping is young. */
export const WINDOW_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes that may be unproven for longer than `STALE_MS`. */
export const STALE_BYTES_MAX = 1024 * 1024;
export const STALE_MS = 20_000;

/** Unproven bytes of all sessions of an object whose drain ping is older than `STALLED_MS`; beyond it they are closed. */
export const STALLED_BYTES_MAX = 32 * 1024 * 1024;
export const STALLED_MS = 5000;

/** Those bytes are summed up this often at most. */
const COUNT_INTERVAL_MS = 1000;

/** A ping whose answer proves that everything before it was read. */
interface DrainPing {
  readonly atMs: number;
  /** Bytes that came before it. */
  readonly bytes: number;
  /** The text that an extended session has to answer with: its heartbeat comes by itself, and proves nothing. */
  readonly nonce?: string;
}

/** Pings from before a sleep that may be unanswered yet, and one that may be answered unseen. */
const PINGS_BEFORE_SLEEP = 3;

/** The unproven bytes of a session. Empty after sleep, for a room that sleeps had nothing to send. */
export class SendWindow {
  bytes = 0;
  drainPing: DrainPing | undefined;
  /** Pings that the server sent. */
  pings = 0;
  /** Pongs that the server saw. The runtime absorbs some, and shows only the time of the last one. */
  pongs = 0;
  pongAtMs = 0;

  /** Called when the room wakes. Counts the pings that the server sent before the sleep, because their pongs may still come. */
  restored(): void {
    this.pings += PINGS_BEFORE_SLEEP;
  }
}

/** Whether so many bytes are unproven that the client of the WebSocket may not be reading at all. */
export function isFarBehind({ polling, sendWindow }: Session): boolean {
  return !polling && sendWindow.bytes > DRAIN_PING_BYTES;
}

export interface BackpressureContext {
  readonly outbox: Outbox;
  readonly now: () => number;
  readonly newId: () => string;
  readonly lastPongAtMs: (session: Session) => number | undefined;
  readonly end: (session: Session, closing: Closing) => void;
}

export class Backpressure {
  readonly #context: BackpressureContext;
  /** Sessions with an unanswered drain ping, and closed ones whose transport is not gone: their bytes are still buffered. */
  readonly #behind = new Set<Session>();
  #stalledBytes = 0;
  readonly #counting = new Throttle(COUNT_INTERVAL_MS);

  constructor(context: BackpressureContext) {
    this.#context = context;
  }

  /** Counts the frames that leave at the end of a turn. The pings and closings that follow leave after them. */
  count(given: readonly Given[]): void {
    const full = new Set<Session>();
    for (const { sessions, bytes } of given) {
      for (const session of sessions) {
        session.sendWindow.bytes += bytes;
        if (isFarBehind(session)) full.add(session);
      }
    }
    for (const session of full) if (!session.closed && !session.probeOf) this.#check(session);
  }

  /** A pong with data: the answer to a drain ping, or without meaning. */
  answered(session: Session, nonce: string): void {
    if (session.sendWindow.drainPing?.nonce === nonce) this.#prove(session);
  }

  /** The transport is gone, and with it what was buffered for it. */
  gone(session: Session): void {
    this.#behind.delete(session);
  }

  #check(session: Session): void {
    const { sendWindow } = session;
    this.#seePong(session);
    // One pong answers one ping. A client that sends more proves nothing with any of them.
    if (!session.isExtended && sendWindow.pongs > sendWindow.pings) {
      return this.#context.end(session, CLOSINGS.protocolViolation);
    }
    if (
      sendWindow.drainPing &&
      sendWindow.drainPing.nonce === undefined &&
      sendWindow.pongAtMs >= sendWindow.drainPing.atMs
    ) {
      this.#prove(session);
    }
    if (sendWindow.bytes <= DRAIN_PING_BYTES) return;
    if (!sendWindow.drainPing) this.#ping(session);
    else if (this.#isTooFar(sendWindow, sendWindow.drainPing)) this.#context.end(session, CLOSINGS.queueTooLong);
  }

  #seePong(session: Session): void {
    const { sendWindow, pongedAtMs } = session;
    const pongAtMs = Math.max(pongedAtMs, this.#context.lastPongAtMs(session) ?? 0);
    if (pongAtMs <= sendWindow.pongAtMs) return;
    sendWindow.pongAtMs = pongAtMs;
    sendWindow.pongs++;
  }

  #ping(session: Session): void {
    const { sendWindow, isExtended } = session;
    const { outbox, now, newId } = this.#context;
    const nonce = isExtended ? newId() : undefined;
    sendWindow.drainPing = { atMs: now(), bytes: sendWindow.bytes, ...(nonce !== undefined && { nonce }) };
    sendWindow.pings++;
    // It serves the heartbeat as well.
    if (!isExtended) {
      session.pingedAtMs = now();
      outbox.save(session);
    }
    this.#behind.add(session);
    outbox.send([session], [ENGINE_PING + (nonce ?? "")]);
  }

  #prove(session: Session): void {
    const { sendWindow } = session;
    sendWindow.bytes -= sendWindow.drainPing!.bytes;
    sendWindow.drainPing = undefined;
    this.#behind.delete(session);
  }

  #isTooFar({ bytes }: SendWindow, { atMs }: DrainPing): boolean {
    const owedMs = this.#context.now() - atMs;
    if (bytes > WINDOW_BYTES_MAX || (bytes > STALE_BYTES_MAX && owedMs > STALE_MS)) return true;
    return owedMs > STALLED_MS && this.stalledBytes > STALLED_BYTES_MAX;
  }

  /** The unproven bytes of all sessions whose drain ping is older than `STALLED_MS`, as of a second ago at most. */
  get stalledBytes(): number {
    const nowMs = this.#context.now();
    if (!this.#counting.take(nowMs)) return this.#stalledBytes;
    this.#stalledBytes = 0;
    for (const { sendWindow } of this.#behind) {
      if (nowMs - sendWindow.drainPing!.atMs > STALLED_MS) this.#stalledBytes += sendWindow.bytes;
    }
    return this.#stalledBytes;
  }
}
