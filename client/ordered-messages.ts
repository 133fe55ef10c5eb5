// Hands every message of the room on exactly once and in the order of `seq`, across reconnects that were not recovered.
// What is missing is fetched from history; what the server does not have either is skipped, and said so.
import type { Message } from "../src/protocol/chat-events.ts";
import type { Gap } from "./api.ts";
import { retryDelayMs } from "./backoff.ts";
import type { Clock } from "./clock.ts";

/** Missing messages fetched at most; of a longer absence the older part is skipped, and can be read with `history()`. */
export const MISSING_FETCHED_MAX = 1000;
export const PAGE_MESSAGES = 200;
/** Messages kept back at most while something before them is fetched; what is beyond comes with the next pages. */
export const HELD_MAX = 1000;
/** How often history is asked for a message that must exist, before it is given up. */
export const FETCH_TRIES = 3;

/** @param messages ascending by `seq`; nothing when they could not be had */
export type FetchDone = (messages: readonly Message[] | undefined, retryAfterMs?: number) => void;

interface OrderedMessagesPorts {
  readonly clock: Clock;
  readonly random: () => number;
  /** Asks for the first messages beyond `after`. */
  readonly fetch: (after: number, limit: number, done: FetchDone) => void;
  readonly deliver: (message: Message) => void;
  readonly skipped: (gap: Gap) => void;
  /** The room was deleted and began anew: `seq` counts from 1 again. */
  readonly restarted: () => void;
}

export class OrderedMessages {
  readonly #ports: OrderedMessagesPorts;
  /** The last message handed on; `undefined` before the first welcome. */
  #through: number | undefined;
  /** The newest message known to exist. */
  #newest = 0;
  readonly #held = new Map<number, Message>();
  /** Names the log that `seq` counts in. */
  #epoch: string | undefined;
  #connection = 0;
  #isConnected = false;
  #isFetching = false;
  #failedTries = 0;
  #cancelRetry: (() => void) | undefined;

  constructor(ports: OrderedMessagesPorts) {
    this.#ports = ports;
  }

  /** The `seq` up to which everything has been handed on or skipped, 0 before the first welcome. */
  get through(): number {
    return this.#through ?? 0;
  }

  /**
   * The connection stands, and the newest message of the room is `lastSeq`.
   * @param epoch names the room's log, where the server says so; a room that was deleted begins another one
   */
  welcome(lastSeq: number, epoch: string | undefined): void {
    this.#isConnected = true;
    if (this.#epoch !== undefined && epoch !== undefined && epoch !== this.#epoch) this.#restart();
    this.#epoch = epoch ?? this.#epoch;
    this.#through ??= lastSeq;
    this.#newest = Math.max(this.#newest, lastSeq);
    this.#fetchMissing();
  }

  lost(): void {
    this.#isConnected = false;
    this.#connection += 1;
    this.#isFetching = false;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
  }

  receive(message: Message): void {
    const { seq } = message;
    this.#through ??= seq - 1;
    if (seq <= this.#through) return;
    this.#newest = Math.max(this.#newest, seq);
    if (seq > this.#through + 1) this.#hold(message);
    else this.#deliver(message);
    this.#deliverHeld();
    this.#fetchMissing();
  }

  #restart(): void {
    this.#through = 0;
    this.#newest = 0;
    this.#held.clear();
    this.#ports.restarted();
  }

  #hold(message: Message): void {
    if (this.#held.size < HELD_MAX) this.#held.set(message.seq, message);
  }

  #deliver(message: Message): void {
    this.#through = message.seq;
    this.#ports.deliver(message);
  }

  #deliverHeld(): void {
    for (;;) {
      const next = this.#held.get(this.through + 1);
      if (!next) return;
      this.#held.delete(next.seq);
      this.#deliver(next);
    }
  }

  #skipTo(seq: number, reason: Gap["reason"]): void {
    if (seq <= this.through) return;
    const gap: Gap = { from: this.through + 1, to: seq, reason };
    this.#through = seq;
    for (const held of this.#held.keys()) if (held <= seq) this.#held.delete(held);
    this.#ports.skipped(gap);
  }

  #fetchMissing(): void {
    if (!this.#isConnected || this.#isFetching || this.#cancelRetry || this.#newest <= this.through) return;
    this.#skipTo(this.#newest - MISSING_FETCHED_MAX, "too many");
    this.#isFetching = true;
    const connection = this.#connection;
    this.#ports.fetch(this.through, PAGE_MESSAGES, (messages, retryAfterMs) => {
      if (connection !== this.#connection) return;
      this.#isFetching = false;
      if (messages) this.#take(messages);
      else this.#tryAgain("unavailable", retryAfterMs);
    });
  }

  #take(messages: readonly Message[]): void {
    const before = this.through;
    for (const message of messages) {
      if (message.seq <= this.through) continue;
      // History goes on behind the hole, so what was there is gone for good.
      this.#skipTo(message.seq - 1, "missing");
      this.#held.delete(message.seq);
      this.#deliver(message);
    }
    this.#newest = Math.max(this.#newest, this.through);
    this.#deliverHeld();
    if (this.through > before) this.#failedTries = 0;
    else if (this.#newest > this.through) return this.#tryAgain("missing");
    this.#fetchMissing();
  }

  /** History may end before a message that exists and is not stored yet. */
  #tryAgain(reason: Gap["reason"], retryAfterMs?: number): void {
    this.#failedTries += 1;
    if (this.#failedTries >= FETCH_TRIES) return this.#giveUp(reason);
    const { clock, random } = this.#ports;
    this.#cancelRetry = clock.after(retryDelayMs(this.#failedTries, random(), retryAfterMs), () => {
      this.#cancelRetry = undefined;
      this.#fetchMissing();
    });
  }

  #giveUp(reason: Gap["reason"]): void {
    this.#failedTries = 0;
    this.#skipTo(Math.min(this.#newest, ...Array.from(this.#held.keys(), (seq) => seq - 1)), reason);
    this.#deliverHeld();
    this.#fetchMissing();
  }
}
