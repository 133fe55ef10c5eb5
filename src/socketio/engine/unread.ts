// What a WebSocket was given and has not read, as far as anybody can know: the runtime keeps whatever a socket does not
// take, without a limit and without a word. What a client answers it has read up to, because frames come in order: who is
// given much is asked with a ping, and who leaves too much behind it unread is sent away (EIO-10).
import { Throttle } from "../../clock/throttle.ts";
import { CLOSINGS, type Closing } from "../wire/closings.ts";
import { ENGINE_PING } from "../wire/engine-io.ts";
import type { Outbox } from "./outbox.ts";
import type { Session } from "./session.ts";
import type { Given } from "./traffic.ts";

/** Bytes given since the last proof of reading, from which on proof is asked for. */
export const PROBE_BYTES = 256 * 1024;

/** Bytes that may be unproven while the proof is still young. */
export const UNREAD_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes that may be unproven for longer than `STALE_MS`. */
export const STALE_BYTES_MAX = 1024 * 1024;
export const STALE_MS = 20_000;

/** Bytes of all sessions of an object together that owe a proof for longer than `STALLED_MS`; beyond it they go. */
export const STALLED_BYTES_MAX = 32 * 1024 * 1024;
export const STALLED_MS = 5000;

/** All of them are counted together this often at most. */
const COUNT_INTERVAL_MS = 1000;

/** A ping that asks for proof. */
interface Probe {
  readonly atMs: number;
  /** Bytes that came before it. */
  readonly bytes: number;
  /** What an extended session has to answer it with: its heartbeat comes by itself, and proves nothing. */
  readonly nonce?: string;
}

/** Pings from before a sleep that may be unanswered yet, and one that may be answered unseen. */
const PINGS_BEFORE_SLEEP = 3;

/** What a session carries of it; after sleep it begins anew, for a room that sleeps had nothing to send. */
export class Reading {
  bytes = 0;
  probe: Probe | undefined;
  /** Pings that it was sent. */
  pings = 0;
  /** Pongs that were seen: those that the runtime absorbs show by the time of the last one only. */
  pongs = 0;
  pongAtMs = 0;

  /** The room slept: pongs may come for pings of before. */
  restored(): void {
    this.pings += PINGS_BEFORE_SLEEP;
  }
}

/** Whether so much was given to a WebSocket without proof that it may not be reading at all. */
export function isFarBehind({ polling, reading }: Session): boolean {
  return !polling && reading.bytes > PROBE_BYTES;
}

export interface UnreadContext {
  readonly outbox: Outbox;
  readonly now: () => number;
  readonly newId: () => string;
  readonly lastPongAtMs: (session: Session) => number | undefined;
  readonly close: (session: Session, closing: Closing) => void;
}

export class Unread {
  readonly #context: UnreadContext;
  /** Who owes a proof, and who was sent away for it and is not gone yet: their bytes are still kept. */
  readonly #behind = new Set<Session>();
  #stalledBytes = 0;
  readonly #counting = new Throttle(COUNT_INTERVAL_MS);

  constructor(context: UnreadContext) {
    this.#context = context;
  }

  /** What leaves at the end of a turn. What follows from it, pings and closings, comes after. */
  count(given: readonly Given[]): void {
    const full = new Set<Session>();
    for (const { sessions, bytes } of given) {
      for (const session of sessions) {
        session.reading.bytes += bytes;
        if (isFarBehind(session)) full.add(session);
      }
    }
    for (const session of full) if (!session.closed && !session.probeOf) this.#look(session);
  }

  /** A pong with something in it: the answer to a probe, or nothing. */
  answered(session: Session, nonce: string): void {
    if (session.reading.probe?.nonce === nonce) this.#prove(session);
  }

  /** The transport is gone, and with it what was kept for it. */
  gone(session: Session): void {
    this.#behind.delete(session);
  }

  #look(session: Session): void {
    const { reading } = session;
    this.#seePong(session);
    // One pong answers one ping. More of them than that prove nothing, of whatever came before or comes after.
    if (!session.isExtended && reading.pongs > reading.pings) {
      return this.#context.close(session, CLOSINGS.protocolViolation);
    }
    if (reading.probe && reading.probe.nonce === undefined && reading.pongAtMs >= reading.probe.atMs) {
      this.#prove(session);
    }
    if (reading.bytes <= PROBE_BYTES) return;
    if (!reading.probe) this.#probe(session);
    else if (this.#isTooFar(reading, reading.probe)) this.#context.close(session, CLOSINGS.queueTooLong);
  }

  #seePong(session: Session): void {
    const { reading, pongedAtMs } = session;
    const pongAtMs = Math.max(pongedAtMs, this.#context.lastPongAtMs(session) ?? 0);
    if (pongAtMs <= reading.pongAtMs) return;
    reading.pongAtMs = pongAtMs;
    reading.pongs++;
  }

  #probe(session: Session): void {
    const { reading, isExtended } = session;
    const { outbox, now, newId } = this.#context;
    const nonce = isExtended ? newId() : undefined;
    reading.probe = { atMs: now(), bytes: reading.bytes, ...(nonce !== undefined && { nonce }) };
    reading.pings++;
    // It serves the heartbeat as well.
    if (!isExtended) {
      session.pingedAtMs = now();
      outbox.save(session);
    }
    this.#behind.add(session);
    outbox.send([session], [ENGINE_PING + (nonce ?? "")]);
  }

  #prove(session: Session): void {
    const { reading } = session;
    reading.bytes -= reading.probe!.bytes;
    reading.probe = undefined;
    this.#behind.delete(session);
  }

  #isTooFar({ bytes }: Reading, { atMs }: Probe): boolean {
    const owedMs = this.#context.now() - atMs;
    if (bytes > UNREAD_BYTES_MAX || (bytes > STALE_BYTES_MAX && owedMs > STALE_MS)) return true;
    return owedMs > STALLED_MS && this.stalledBytes > STALLED_BYTES_MAX;
  }

  /** Of all who owe a proof for longer than `STALLED_MS`, as of a second ago at most. */
  get stalledBytes(): number {
    const nowMs = this.#context.now();
    if (!this.#counting.take(nowMs)) return this.#stalledBytes;
    this.#stalledBytes = 0;
    for (const { reading } of this.#behind) {
      if (nowMs - reading.probe!.atMs > STALLED_MS) this.#stalledBytes += reading.bytes;
    }
    return this.#stalledBytes;
  }
}
