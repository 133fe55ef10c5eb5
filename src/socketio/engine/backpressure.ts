// Counts the frames and bytes of sessions in the meter of an object, and bounds the bytes that clients leave unread, because the runtime
// buffers them without a limit and shows no size (EIO-10). Frames arrive in order, so an answer to a ping proves that the client read
// everything before it. Sends such a flow-control ping to sessions with many unproven bytes, and ends sessions that stay behind. Called by
// engine.ts.
import { CLOSINGS, type Closing } from "../wire/closings.ts";
import { Throttle } from "../../clock/rates.ts";
import { ENGINE_PING, frameBytes, type Frame } from "../wire/engine-io.ts";
import type { Effects, Effect } from "./effects.ts";
import { POLL_QUEUE_BYTES_MAX } from "./poll-queue.ts";
import type { Session } from "./session.ts";

/** The counting port of the core. Implemented by src/metrics/meter.ts. */
export interface Meter {
  /** @param series a family's name, a colon and the values of its labels */
  count(series: string, by?: number): void;
  /** Adds a value to a histogram. */
  observe(histogram: "unread", value: number): void;
}

/** Counts nothing: for servers without metrics. */
export const NO_METER: Meter = { count: () => {}, observe: () => {} };

export function countReceived(meter: Meter, { polling }: Session, frame: Frame): void {
  meter.count(polling ? "frames_in:polling" : "frames_in:websocket");
  meter.count("bytes_in", frameBytes(frame));
}

/** Frames that leave for some sessions over their WebSockets. */
export interface SentFrames {
  readonly sessions: readonly Session[];
  /** Of all frames together, to each session. */
  readonly bytes: number;
}

/** Counts each frame that leaves, and its bytes, once per recipient. @returns what goes over WebSockets */
export function countLeaving(meter: Meter, effects: readonly Effect[]): SentFrames[] {
  const sent: SentFrames[] = [];
  let [framesOut, bytesOut] = [0, 0];
  for (const effect of effects) {
    if (effect.type === "send") {
      const { sessions, frames } = effect;
      let bytes = 0;
      for (const frame of frames) bytes += frameBytes(frame);
      framesOut += frames.length * sessions.length;
      bytesOut += bytes * sessions.length;
      sent.push({ sessions, bytes });
    } else if (effect.type === "answer-poll") {
      meter.count("frames_out:polling");
      bytesOut += frameBytes(effect.payload);
    }
  }
  if (framesOut > 0) meter.count("frames_out:websocket", framesOut);
  if (bytesOut > 0) meter.count("bytes_out", bytesOut);
  return sent;
}

/** Closings by the peer or the network have no reason, so they count under the disconnect reason. */
export function countClosed(meter: Meter, { reason, disconnect }: Closing): void {
  meter.count(`closed:${reason || disconnect}`);
}

/** A session with more unproven bytes gets a flow-control ping. */
export const FLOW_CONTROL_PING_BYTES = 256 * 1024;

/** Bytes that may be unproven while the flow-control ping is young, unless the server allows more. */
export const WINDOW_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes that may be unproven for longer than `STALE_MS`. */
export const STALE_BYTES_MAX = 1024 * 1024;
export const STALE_MS = 20_000;

/**
 * Unproven bytes of all sessions of an object whose flow-control ping is older than `STALLED_MS`; beyond it these sessions are closed. With the
 * bytes that long-polling clients have not fetched, it closes those of them that have more than `POLL_QUEUE_BYTES_MAX`.
 */
export const STALLED_BYTES_MAX = 32 * 1024 * 1024;
export const STALLED_MS = 5000;

/** Those bytes are summed up this often at most, and observed this often at most. */
const SAMPLE_MS = 1000;

/** A ping whose answer proves that the client read everything before it. */
interface FlowControlPing {
  readonly atMs: number;
  /** Bytes that came before it. */
  readonly bytes: number;
  /** The text that an extended session has to send back: its pongs come without a ping, so they prove nothing. */
  readonly nonce?: string;
}

/** Pings of before a sleep that may still be unanswered, and one whose pong the runtime may have absorbed. */
const PINGS_BEFORE_SLEEP = 3;

/** The unproven bytes of a session. Empty after sleep, because a room that sleeps had nothing to send. */
export class SendWindow {
  bytes = 0;
  flowControlPing: FlowControlPing | undefined;
  /** Pings that the server sent. */
  pings = 0;
  /** Pongs that the server saw. The runtime absorbs others, and shows only the time of the last one. */
  pongs = 0;
  pongAtMs = 0;

  /** Called when the room wakes. Counts the pings that the server sent before the sleep, because their pongs may still come. */
  restored(): void {
    this.pings += PINGS_BEFORE_SLEEP;
  }
}

/** Whether so many bytes are unproven that the client of the WebSocket may not be reading at all. */
export function isFarBehind({ polling, sendWindow }: Session): boolean {
  return !polling && sendWindow.bytes > FLOW_CONTROL_PING_BYTES;
}

export interface BackpressureContext {
  readonly sessions: ReadonlyMap<string, Session>;
  readonly effects: Effects;
  readonly meter: Meter;
  readonly now: () => number;
  readonly newId: () => string;
  readonly lastPongAtMs: (session: Session) => number | undefined;
  readonly end: (session: Session, closing: Closing) => void;
}

export class Backpressure {
  readonly #context: BackpressureContext;
  readonly #windowBytesMax: number;
  /** Sessions with an unanswered flow-control ping, and closed ones whose transport is not gone: their bytes are still buffered. */
  readonly #behind = new Set<Session>();
  #stalledBytes = 0;
  readonly #stalledThrottle = new Throttle(SAMPLE_MS);
  readonly #sampleThrottle = new Throttle(SAMPLE_MS);

  constructor(context: BackpressureContext, windowBytesMax = WINDOW_BYTES_MAX) {
    this.#context = context;
    this.#windowBytesMax = windowBytesMax;
  }

  /** Counts the frames that leave at the end of a turn. The pings and closings that follow leave after them. */
  count(sent: readonly SentFrames[]): void {
    let full: Set<Session> | undefined;
    for (const { sessions, bytes } of sent) {
      for (const session of sessions) {
        session.sendWindow.bytes += bytes;
        if (isFarBehind(session)) (full ??= new Set()).add(session);
      }
    }
    for (const session of full ?? []) if (!session.closed && !session.probeOf) this.#check(session);
    this.#sample();
  }

  /** A pong with data came: the answer to a flow-control ping, or without meaning. */
  answered(session: Session, nonce: string): void {
    if (session.sendWindow.flowControlPing?.nonce === nonce) this.#prove(session);
  }

  /** The transport is gone, and with it the bytes that were buffered for it. */
  gone(session: Session): void {
    this.#behind.delete(session);
  }

  /** Proves bytes by a pong that came meanwhile; then pings the session, or ends it, as its unproven bytes demand. */
  #check(session: Session): void {
    const { sendWindow, isExtended, pongedAtMs } = session;
    const { now, lastPongAtMs, end } = this.#context;
    const pongAtMs = Math.max(pongedAtMs, lastPongAtMs(session) ?? 0);
    if (pongAtMs > sendWindow.pongAtMs) {
      sendWindow.pongAtMs = pongAtMs;
      sendWindow.pongs++;
    }
    // One pong answers one ping. A client that sends more proves nothing with any of them.
    if (!isExtended && sendWindow.pongs > sendWindow.pings) return end(session, CLOSINGS.protocolViolation);
    const ping = sendWindow.flowControlPing;
    if (ping && ping.nonce === undefined && sendWindow.pongAtMs >= ping.atMs) this.#prove(session);
    const { bytes, flowControlPing } = sendWindow;
    if (bytes <= FLOW_CONTROL_PING_BYTES) return;
    if (!flowControlPing) return this.#ping(session);
    const pendingMs = now() - flowControlPing.atMs;
    const isTooFar =
      bytes > this.#windowBytesMax ||
      (bytes > STALE_BYTES_MAX && pendingMs > STALE_MS) ||
      (pendingMs > STALLED_MS && this.#sumStalled() > STALLED_BYTES_MAX);
    if (isTooFar) end(session, CLOSINGS.queueTooLong);
  }

  #ping(session: Session): void {
    const { sendWindow, isExtended } = session;
    const { effects, now, newId } = this.#context;
    const nonce = isExtended ? newId() : undefined;
    sendWindow.flowControlPing = { atMs: now(), bytes: sendWindow.bytes, ...(nonce !== undefined && { nonce }) };
    sendWindow.pings++;
    // It serves as the ping of the heartbeat, too.
    if (!isExtended) {
      session.pingedAtMs = now();
      effects.save(session);
    }
    this.#behind.add(session);
    effects.send([session], [ENGINE_PING + (nonce ?? "")]);
  }

  #prove(session: Session): void {
    const { sendWindow } = session;
    sendWindow.bytes -= sendWindow.flowControlPing!.bytes;
    sendWindow.flowControlPing = undefined;
    this.#behind.delete(session);
  }

  /** @returns the unproven bytes of all sessions whose flow-control ping is older than `STALLED_MS`, as of a second ago at most */
  #sumStalled(): number {
    const nowMs = this.#context.now();
    if (!this.#stalledThrottle.passIfOpen(nowMs)) return this.#stalledBytes;
    this.#stalledBytes = 0;
    for (const { sendWindow } of this.#behind) {
      if (nowMs - sendWindow.flowControlPing!.atMs > STALLED_MS) this.#stalledBytes += sendWindow.bytes;
    }
    return this.#stalledBytes;
  }

  /**
   * Observes the bytes that the room holds for slow clients, stalled and unfetched: no object can read its own memory use, and this is
   * the part of it that clients cause. Only sending makes it grow. Nothing held is no sample.
   */
  #sample(): void {
    const { meter, now, sessions, end } = this.#context;
    if (!this.#sampleThrottle.passIfOpen(now())) return;
    let bytes = this.#sumStalled();
    for (const { polling } of sessions.values()) bytes += polling?.bytes ?? 0;
    if (bytes > 0) meter.observe("unread", bytes);
    if (bytes <= STALLED_BYTES_MAX) return;
    for (const session of sessions.values())
      if ((session.polling?.bytes ?? 0) > POLL_QUEUE_BYTES_MAX) end(session, CLOSINGS.queueTooLong);
  }
}
