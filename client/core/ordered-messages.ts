// Passes each message of the room on exactly once and in the order of `seq`, across reconnects without recovery. It fetches
// missing messages from history, and reports a gap that the server cannot fill. Room calls it.
import type { ErrorAnswer, Message, NotShown } from "../../src/protocol/chat-events.ts";
import type { Gap } from "./api.ts";
import { readRetryAfterMs, retryDelayMs } from "./backoff.ts";
import type { Clock } from "./clock.ts";

/** Missing messages fetched at most; of a longer absence the older part is skipped, and can be read with `history()`. */
export const MISSING_FETCHED_MAX = 1000;
export const PAGE_MESSAGES = 200;
/** Messages held back at most while earlier ones are fetched; further ones come with the next pages. */
export const HELD_MAX = 1000;
/** Requests for the same missing messages without a good answer, before they are given up. */
export const FETCH_TRIES = 3;

/** Ascending by `seq`; `hasMore`: there are newer ones. */
export interface HistoryPage {
  readonly messages: readonly Message[];
  readonly hasMore: boolean;
}

/** @param page `undefined` where the room gave none; `error` is its reason, if it gave one */
export type FetchDone = (page: HistoryPage | undefined, error?: ErrorAnswer["error"]) => void;

interface OrderedMessagesPorts {
  readonly clock: Clock;
  readonly random: () => number;
  /** Asks for the first messages beyond `after`. */
  readonly fetch: (after: number, limit: number, done: FetchDone) => void;
  readonly deliver: (message: Message) => void;
  readonly skipped: (gap: Gap) => void;
  /** The room was deleted and begun again, or a backup of it was restored: all that was handed on may be gone. */
  readonly restarted: () => void;
}

export class OrderedMessages {
  readonly #ports: OrderedMessagesPorts;
  /** The last message handed on; `undefined` before the first welcome. */
  #through: number | undefined;
  /** The id of the message at that place, where it is known. */
  #throughId: string | undefined;
  /** Whether the room may have another message at that place by now; nothing is delivered until a page of history shows. */
  #isDoubted = false;
  /** The newest message known to exist, by the present connection. */
  #newest = 0;
  /** While nobody looks at the messages none are fetched: with the next `reach` after that they are. */
  isAway = false;
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
   * @param epoch names the room's log, where the server names it; a room that was deleted begins another one
   * @param lastId the newest message's id, where the server names it
   */
  welcome(lastSeq: number, epoch: string | undefined, lastId?: string): void {
    this.#isConnected = true;
    const isOtherLog = this.#epoch !== undefined && epoch !== undefined && epoch !== this.#epoch;
    // A log never loses a sent message, unless an operator restored a backup.
    const isEmptied = lastSeq === 0 && this.through > 0;
    const isShorter = lastId !== undefined && lastSeq < this.through;
    if (isOtherLog || isEmptied || isShorter) this.#restart();
    this.#epoch = epoch ?? this.#epoch;
    this.#isDoubted = lastId !== undefined && this.#throughId !== undefined && lastId !== this.#throughId;
    if (this.#through === undefined) this.#throughId = lastId;
    this.#through ??= lastSeq;
    this.reach(lastSeq);
  }

  lost(): void {
    this.#isConnected = false;
    this.#isDoubted = false;
    // The next welcome says what there is: a restored backup may have less.
    this.#newest = 0;
    this.#held.clear();
    this.#connection += 1;
    this.#isFetching = false;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
  }

  receive(message: Message): void {
    const { seq } = message;
    this.#through ??= seq - 1;
    if (seq <= this.#through) return;
    const isNext = seq === this.#through + 1;
    if (isNext || this.#held.size < HELD_MAX) this.#held.set(seq, message);
    this.#deliverHeld();
    this.reach(seq);
  }

  /** The room has messages up to there, of which the connection has not heard. */
  reach(lastSeq: number): void {
    this.#newest = Math.max(this.#newest, lastSeq);
    this.#fetchMissing();
  }

  /** The room stored messages and did not show them. Where others before them are missing, they are fetched together. */
  notShown({ from, to }: NotShown): void {
    if (from <= this.through + 1 && !this.#isDoubted) this.#leaveOut(to, "not shown");
    this.reach(to);
  }

  #restart(): void {
    this.#through = 0;
    this.#throughId = undefined;
    this.#isDoubted = false;
    this.#ports.restarted();
  }

  #deliver(message: Message): void {
    this.#through = message.seq;
    this.#throughId = message.id;
    this.#ports.deliver(message);
  }

  #deliverHeld(): void {
    while (!this.#isDoubted) {
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
    this.#throughId = undefined;
    for (const held of this.#held.keys()) if (held <= seq) this.#held.delete(held);
    this.#ports.skipped(gap);
  }

  /** Skips messages up to `seq`, except those that came by themselves. */
  #leaveOut(seq: number, reason: Gap["reason"]): void {
    while (this.through < seq) {
      this.#skipTo(Math.min(seq, this.#firstHeld() - 1), reason);
      this.#deliverHeld();
    }
  }

  #firstHeld(): number {
    return Math.min(...this.#held.keys());
  }

  #fetchMissing(): void {
    const isComplete = this.#newest <= this.through && !this.#isDoubted;
    if (!this.#isConnected || this.isAway || this.#isFetching || this.#cancelRetry || isComplete) return;
    this.#isFetching = true;
    const connection = this.#connection;
    const { through } = this;
    const isDoubted = this.#isDoubted;
    const known = this.#newest;
    // In doubt with the last one that was handed on, to see whether it still stands there.
    this.#ports.fetch(isDoubted ? through - 1 : through, PAGE_MESSAGES, (page, error) => {
      if (connection !== this.#connection) return;
      this.#isFetching = false;
      const isOver = page && isDoubted && this.#hasRestarted(page);
      if (page && !isOver) this.#deliverPage(page, known);
      if (this.through === through && (!page || this.#newest > through)) return this.#onFailure(error);
      this.#failedTries = 0;
      this.#fetchMissing();
    });
  }

  /** @param page begins where the last message stood that was handed on */
  #hasRestarted({ messages: [first] }: HistoryPage): boolean {
    const isAnother = first?.seq === this.through && first.id !== this.#throughId;
    this.#isDoubted = false;
    if (!isAnother) return false;
    this.#restart();
    return true;
  }

  /** @param known the newest message that was known when the page was asked for */
  #deliverPage({ messages, hasMore }: HistoryPage, known: number): void {
    // Only now: places that no message has are not too many messages.
    if (hasMore) this.#skipTo(known - MISSING_FETCHED_MAX, "too many");
    for (const message of messages) {
      if (message.seq <= this.through) continue;
      // History goes on behind the hole, so the messages in it are gone for good.
      this.#leaveOut(message.seq - 1, "missing");
      this.#held.delete(message.seq);
      if (message.seq > this.through) this.#deliver(message);
    }
    // History shows all that any client has seen (CHAT-2, CHAT-7): a message that is not there now never will be.
    if (!hasMore) this.#leaveOut(known, "missing");
    this.#newest = Math.max(this.#newest, this.through);
    this.#deliverHeld();
  }

  /** Asks again after a wait, or gives the missing messages up. */
  #onFailure(error?: ErrorAnswer["error"]): void {
    this.#failedTries += 1;
    if (this.#failedTries >= FETCH_TRIES) {
      this.#failedTries = 0;
      this.#isDoubted = false;
      this.#skipTo(Math.min(this.#newest, this.#firstHeld() - 1), "unavailable");
      this.#deliverHeld();
      return this.#fetchMissing();
    }
    const { clock, random } = this.#ports;
    const delayMs = retryDelayMs(this.#failedTries, random(), readRetryAfterMs(error?.retryAfterMs));
    this.#cancelRetry = clock.after(delayMs, () => {
      this.#cancelRetry = undefined;
      this.#fetchMissing();
    });
  }
}
