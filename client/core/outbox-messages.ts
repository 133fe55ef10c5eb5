// The messages of one room's outbox: those that wait, in the order of sending, and those that failed. Keeps both in the browser's
// storage, which tabs share, and reports each change. Called by outbox.ts, which decides when to send.
import type { Draft, MessageState, SendFailure, Unsent } from "./api.ts";
import { draftOf, type OutboxStorage, type StoredMessage } from "./outbox-storage.ts";

/** Failed messages kept for `retry`; the oldest are forgotten. */
export const FAILED_MAX = 50;

export type FailedMessage = StoredMessage & { readonly failure: SendFailure };

interface MessagesPorts {
  readonly storage: OutboxStorage;
  readonly report: (state: MessageState) => void;
  /** The first message of the queue left it. */
  readonly firstGone: () => void;
}

export class OutboxMessages {
  readonly #ports: MessagesPorts;
  /** In the order of sending. */
  readonly #queue = new Map<string, StoredMessage>();
  readonly #failed = new Map<string, FailedMessage>();
  /** Messages that the storage holds: once they are gone from there, another tab has dealt with them. */
  readonly #kept = new Set<string>();
  #lastOrder = 0;

  constructor(ports: MessagesPorts) {
    this.#ports = ports;
    for (const message of ports.storage.load()) {
      this.#kept.add(message.clientMsgId);
      this.#lastOrder = message.order;
      if (hasFailed(message)) this.#failed.set(message.clientMsgId, message);
      else this.#queue.set(message.clientMsgId, message);
    }
  }

  get queue(): ReadonlyMap<string, StoredMessage> {
    return this.#queue;
  }

  get first(): StoredMessage | undefined {
    return this.#queue.values().next().value;
  }

  get failed(): ReadonlyMap<string, FailedMessage> {
    return this.#failed;
  }

  /** All that is not sent, in order: failed, in flight or waiting. */
  get unsent(): Unsent[] {
    const failed = Array.from(this.#failed.values(), (message) => ({
      ...draftOf(message),
      state: "failed" as const,
      error: message.failure,
    }));
    const waiting = Array.from(this.#queue.values(), (message) => ({ ...draftOf(message), state: "pending" as const }));
    return [...failed, ...waiting];
  }

  /** Queues a new message, or one that failed before, behind all others. */
  push(message: Omit<StoredMessage, "order">, nowMs: number): void {
    // Later than every message before it, even where the clock stands still or was set back.
    this.#lastOrder = Math.max(nowMs, this.#lastOrder + 1);
    const ordered = { ...message, order: this.#lastOrder };
    this.#failed.delete(message.clientMsgId);
    this.#queue.set(message.clientMsgId, ordered);
    this.keep(ordered);
    this.report(ordered, { state: "pending" });
  }

  /** Puts a changed message in its former place in the queue. */
  replace(changed: StoredMessage): void {
    if (this.#queue.has(changed.clientMsgId)) this.#queue.set(changed.clientMsgId, changed);
  }

  /** The message as its last editor left it, which may be another tab; `undefined` once another tab has dealt with it. */
  stored(message: StoredMessage): StoredMessage | undefined {
    return this.#kept.has(message.clientMsgId) ? this.#ports.storage.get(message.clientMsgId) : message;
  }

  /** @returns whether the storage took it */
  keep(message: StoredMessage): boolean {
    const isKept = this.#ports.storage.put(message);
    if (isKept) this.#kept.add(message.clientMsgId);
    return isKept;
  }

  /** Forgets a message, waiting or failed. @returns it, if it was there */
  remove(clientMsgId: string): StoredMessage | undefined {
    const message = this.#queue.get(clientMsgId) ?? this.#failed.get(clientMsgId);
    if (!message) return undefined;
    this.#takeOut(message);
    this.#forget(clientMsgId);
    return message;
  }

  /** The message failed: it is kept for `retry`, and not sent again by itself. */
  fail(message: StoredMessage, error: SendFailure): void {
    // The stored failure has no `retryAfterMs`, which is soon out of date.
    const isKept = this.keep({ ...message, failure: { code: error.code, message: error.message } });
    // Otherwise the next page would send the older, unfailed version.
    if (!isKept) this.#forget(message.clientMsgId);
    this.setAside(message, error);
    for (const oldest of this.#failed.keys()) if (this.#failed.size > FAILED_MAX) this.remove(oldest);
  }

  /** Moves a message from the queue to the failed ones, in this tab alone. */
  setAside(message: StoredMessage, failure: SendFailure): void {
    this.#takeOut(message);
    this.#failed.set(message.clientMsgId, { ...message, failure });
    this.report(message, { state: "failed", error: failure });
  }

  /** Another tab or user has the message: this outbox drops it and leaves the stored one alone. */
  leaveElsewhere(message: StoredMessage): void {
    this.#takeOut(message);
    this.report(message, { state: "elsewhere" });
  }

  report(message: Draft, state: DistributiveOmit<MessageState, keyof Draft>): void {
    this.#ports.report({ ...draftOf(message), ...state });
  }

  #takeOut({ clientMsgId }: StoredMessage): void {
    this.#failed.delete(clientMsgId);
    const isFirst = this.first?.clientMsgId === clientMsgId;
    this.#queue.delete(clientMsgId);
    if (isFirst) this.#ports.firstGone();
  }

  #forget(clientMsgId: string): void {
    this.#ports.storage.remove(clientMsgId);
    this.#kept.delete(clientMsgId);
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export const hasFailed = (message: StoredMessage): message is FailedMessage => message.failure !== undefined;
