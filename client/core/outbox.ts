// Sends the messages of one room in order, each exactly once thanks to its `clientMsgId`; without a connection they wait. One is in
// flight at a time: if a later one overtook an earlier one, which the room puts off (RATE_LIMITED) or fails to store (INTERNAL),
// the order could not be restored. Room calls it; outbox-messages.ts keeps the messages.
import { RETRY_AFTER } from "../../src/protocol/failures.ts";
import type { ErrorAnswer, Message, PostAnswer, PostPayload } from "../../src/protocol/chat-events.ts";
import type { Draft, Inheritance, MessageState, SendFailure, Unsent } from "./api.ts";
import { readRetryAfterMs, RETRY_AFTER_MAX_MS, retryDelayMs } from "./backoff.ts";
import type { Clock } from "./clock.ts";
import { hasFailed, OutboxMessages } from "./outbox-messages.ts";
import type { LookUpDone, Posted } from "./posted-lookup.ts";
import { draftOf, ownedBy, triedOf, type OutboxStorage, type StoredMessage } from "./outbox-storage.ts";
import { EXPIRED, OTHER_USER, QUEUE_FULL, UNANSWERED, UNCERTAIN } from "./send-failures.ts";

/** The room recognises a `clientMsgId` for 10 minutes (CHAT-4). Later it is looked up before the message is sent again. */
export const RECOGNISED_MS = 9 * 60_000;
/** Messages older than this are not sent any more: last week's greeting would confuse. */
export const WAITING_MAX_MS = 24 * 3_600_000;
/** Tries of one message that a connected room leaves unanswered or fails to store. */
export const TRIES_MAX = 5;
/** Connections that may break in a row while the same message is in flight; after one more, the message counts as the cause. */
export const BREAKS_MAX = 8;

interface OutboxPorts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly storage: OutboxStorage;
  /** Calls `done` with the answer, or with nothing when none came. */
  readonly post: (payload: PostPayload, done: (answer: PostAnswer | undefined) => void) => void;
  readonly lookUp: (user: string, message: StoredMessage, done: LookUpDone) => void;
  /** The newest known `seq`: a message that is sent now gets a later one. */
  readonly lastSeq: () => number;
  readonly report: (state: MessageState) => void;
  /** Messages that wait while there is no connection, at most. */
  readonly queueLimit: number;
  /** Decides on unsent messages that another user wrote in this browser. */
  readonly inherit: (user: string) => Inheritance;
}

export class Outbox {
  readonly #ports: OutboxPorts;
  readonly #messages: OutboxMessages;
  #user: string | undefined;
  #isOpen = false;
  #isPumping = false;
  /** Whether a shown message is a stored one. */
  #isSeenStored = false;
  /** The message in flight. */
  #sending: string | undefined;
  /** How often the first message failed without a decision. */
  #tries = 0;
  /** Connections in a row that broke while the first message was in flight. */
  #breaks = 0;
  /** Answers to earlier tries and connections count only if they are good. */
  #try = 0;
  #cancelRetry: (() => void) | undefined;

  constructor(ports: OutboxPorts) {
    this.#ports = ports;
    const { storage, report } = ports;
    // Tries and breaks count for the first message only.
    const firstGone = (): void => {
      this.#tries = 0;
      this.#breaks = 0;
    };
    this.#messages = new OutboxMessages({ storage, report, firstGone });
  }

  get unsent(): Unsent[] {
    return this.#messages.unsent;
  }

  /** Queues a message behind all others, unless it is in the queue already. */
  add(draft: Draft): void {
    const { clientMsgId } = draft;
    if (this.#messages.queue.has(clientMsgId)) return;
    const failed = this.#messages.failed.get(clientMsgId);
    const known = failed && this.#messages.stored(failed);
    // Another tab has sent it, or a tab of another user takes it over.
    if (failed && known?.user !== failed.user && !(known && this.#mayBeMine(known)))
      return this.#messages.leaveElsewhere(failed);
    const message = { ...draftOf(draft), ...(known && triedOf(known)), ...ownedBy(this.#user, known) };
    this.#messages.push(message, this.#ports.clock.now());
    if (!this.#isOpen) this.#dropOldest();
    this.#pump();
  }

  /** The failed message of that id. */
  failed(clientMsgId: string): Draft | undefined {
    return this.#messages.failed.get(clientMsgId);
  }

  /** Forgets a message. @returns false when it is in flight, or unknown */
  discard(clientMsgId: string): boolean {
    return this.#sending !== clientMsgId && this.#messages.remove(clientMsgId) !== undefined;
  }

  /** Fails all waiting messages. Later ones are sent, if the connection stands. */
  giveUp(failure: SendFailure): void {
    const wasPumping = this.#isPumping;
    // None of them goes out while those before it fail.
    this.#isPumping = true;
    // As many as there are now: a listener may retry each message that failed, which puts it behind all others.
    const waiting = Array.from(this.#messages.queue.keys());
    for (const clientMsgId of waiting) this.#fail(clientMsgId, failure);
    this.#isPumping = wasPumping;
    this.#pump();
  }

  /** The token names the user of the next connection: messages written until then are theirs. */
  expect(user: string): void {
    if (this.#isOpen) return;
    this.#user = user;
    this.#sortOut();
  }

  /**
   * The room knows this user and takes messages.
   * @param durability of the room: a `strict` one shows only stored messages
   */
  open(user: string, durability: string | undefined): void {
    this.#isOpen = true;
    this.#isSeenStored = durability === "strict";
    this.#user = user;
    this.#sortOut();
    this.#pump();
  }

  lost(): void {
    const inFlight = this.#sending;
    this.#isOpen = false;
    this.#sending = undefined;
    this.#try += 1;
    this.#tries = 0;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    if (inFlight === undefined) return;
    this.#breaks += 1;
    if (this.#breaks > BREAKS_MAX) this.#fail(inFlight, UNANSWERED);
  }

  /**
   * The room delivered a message. If it is one of these, it has arrived, unless its answer is still awaited. Messages before the
   * welcome are replayed from the log, so they are stored. Later ones may be lost in a crash, unless the room is strict: these are
   * sent again, and the room answers with their place.
   */
  seen({ sender, clientMsgId, id, seq, timestamp }: Message): void {
    if (sender !== this.#user || clientMsgId === undefined || clientMsgId === this.#sending) return;
    if (this.#isOpen && !this.#isSeenStored) return;
    this.#settle(clientMsgId, { id, seq, timestamp });
  }

  #mayBeMine({ user }: StoredMessage): boolean {
    return user === undefined || this.#user === undefined || user === this.#user;
  }

  /** Decides on stored messages of other users: sends them as this user, sets them aside, or leaves them to their writer. */
  #sortOut(): void {
    const { queue, failed } = this.#messages;
    for (const message of [...queue.values()].filter((message) => !this.#mayBeMine(message))) {
      const inheritance = this.#ports.inherit(message.user!);
      // Another tab may have been quicker.
      const isTaken = this.#messages.stored(message)?.user !== message.user;
      if (inheritance === "leave" || isTaken) this.#messages.leaveElsewhere(message);
      else if (inheritance === "ask") this.#messages.setAside(message, OTHER_USER);
      else this.#change({ ...message, ...ownedBy(this.#user, message) });
    }
    for (const message of failed.values())
      if (!this.#mayBeMine(message) && this.#ports.inherit(message.user!) === "leave")
        this.#messages.leaveElsewhere(message);
  }

  /** Changes a message in the queue and in the storage. */
  #change(changed: StoredMessage): void {
    this.#messages.replace(changed);
    this.#messages.keep(changed);
  }

  /** A message that was tried may be stored: do not report it as not sent. */
  #dropOldest(): void {
    const { queue } = this.#messages;
    const excess = queue.size - this.#ports.queueLimit;
    if (excess <= 0) return;
    const untried = [...queue.values()].filter(({ triedAtMs }) => triedAtMs === undefined);
    for (const { clientMsgId } of untried.slice(0, excess)) this.#fail(clientMsgId, QUEUE_FULL);
  }

  /** Sends the next message. A loop, not a recursion: thousands may be settled at once. */
  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#isOpen && this.#sending === undefined && !this.#cancelRetry && this.#messages.first) {
      const next = this.#refreshed(this.#messages.first);
      if (!next) continue;
      const isExpired = this.#ports.clock.now() - next.order > WAITING_MAX_MS;
      if (isExpired) this.#fail(next.clientMsgId, EXPIRED);
      else {
        this.#sending = next.clientMsgId;
        if (this.#mayBeForgotten(next)) this.#lookUp(next);
        else this.#post(next);
      }
    }
    this.#isPumping = false;
  }

  /** The first message as its last editor left it; `undefined` if another tab has dealt with it. */
  #refreshed(next: StoredMessage): StoredMessage | undefined {
    const stored = this.#messages.stored(next);
    if (!stored || !this.#mayBeMine(stored)) this.#messages.leaveElsewhere(next);
    else if (hasFailed(stored)) this.#messages.setAside(next, stored.failure);
    else {
      this.#messages.replace(stored);
      return stored;
    }
    return undefined;
  }

  /** A clock that was set back says nothing about how long ago it was. */
  #mayBeForgotten({ triedAtMs, triedBy }: StoredMessage): boolean {
    if (triedAtMs === undefined) return false;
    // The room recognises a retry of the first sender only.
    if (triedBy !== undefined) return true;
    const agoMs = this.#ports.clock.now() - triedAtMs;
    return agoMs > RECOGNISED_MS || agoMs < 0;
  }

  #post(next: StoredMessage): void {
    const { clock, lastSeq, post } = this.#ports;
    const tried = { ...next, user: this.#user!, triedAtMs: clock.now(), triedAfterSeq: lastSeq(), ...triedOf(next) };
    this.#change(tried);
    const current = ++this.#try;
    post(draftOf(tried), (answer) => {
      if (answer && "ok" in answer) return this.#settle(tried.clientMsgId, answer);
      if (current !== this.#try) return;
      const error = answer?.error;
      const retryAfterMs = this.#onRefusal(tried, error);
      if (error && retryAfterMs !== undefined)
        this.#messages.report(tried, { state: "pending", error: { ...error, retryAfterMs } });
    });
  }

  #lookUp(next: StoredMessage): void {
    const current = ++this.#try;
    this.#ports.lookUp(next.triedBy ?? this.#user!, next, (found, error) => {
      if (current !== this.#try) return;
      if (found === undefined) {
        // A final refusal concerns the request for history, not the message.
        this.#onRefusal(next, error && RETRY_AFTER.includes(error.code) ? error : undefined);
        return;
      }
      if (found !== "absent" && found !== "unknown") return this.#settle(next.clientMsgId, found);
      // From here on it counts as never sent: it was not, or the application retries after a warning.
      const { triedAtMs: _at, triedAfterSeq: _after, triedBy: _by, ...untried } = next;
      this.#messages.replace(untried);
      if (found === "absent") this.#post(untried);
      else this.#fail(next.clientMsgId, UNCERTAIN);
    });
  }

  /** Waits before the next try, or fails the message. @returns the wait; `undefined` where the message failed */
  #onRefusal(message: StoredMessage, error: ErrorAnswer["error"] | undefined): number | undefined {
    this.#breaks = 0;
    if (!error || error.code === "INTERNAL") this.#tries += 1;
    const isPassing = !error || RETRY_AFTER.includes(error.code);
    const isTooLong = (error?.retryAfterMs ?? 0) > RETRY_AFTER_MAX_MS;
    if (!isPassing || isTooLong || this.#tries >= TRIES_MAX) {
      this.#fail(message.clientMsgId, error ?? UNANSWERED);
      return undefined;
    }
    this.#sending = undefined;
    // A rate limit is exact, and per user: no random part is needed.
    const retryAfterMs = readRetryAfterMs(error?.retryAfterMs) ?? retryDelayMs(this.#tries, this.#ports.random());
    this.#cancelRetry = this.#ports.clock.after(retryAfterMs, () => {
      this.#cancelRetry = undefined;
      this.#pump();
    });
    return retryAfterMs;
  }

  #settle(clientMsgId: string, { id, seq, timestamp, duplicate }: Posted): void {
    const answer = { ok: true as const, id, seq, timestamp, ...(duplicate && { duplicate }) };
    const message = this.#messages.remove(clientMsgId);
    if (!message) return;
    this.#messages.report(message, { state: "sent", answer });
    this.#next(clientMsgId);
  }

  #fail(clientMsgId: string, error: SendFailure): void {
    const message = this.#messages.queue.get(clientMsgId);
    if (!message) return;
    this.#messages.fail(message, error);
    this.#next(clientMsgId);
  }

  /** A message is done with; if it was the one in flight, the next may go. */
  #next(clientMsgId: string): void {
    if (this.#sending === clientMsgId) {
      this.#sending = undefined;
      this.#try += 1;
    }
    this.#pump();
  }
}
