// Group commit: posts that arrive while a batch is open share one append and one fan-out (CHAT-2). The commit (commit.ts) stores and
// delivers them (CHAT-7). Called by posting.ts; scripts/measure/bill.ts knows the rate of batches.
import type { Message, PostAnswer } from "../../protocol/chat-events.ts";
import { fileCharsOf } from "../../protocol/message.ts";
import { refuse } from "../../protocol/refuse.ts";
import {
  BATCH_CHARS_MAX,
  RelaxedCommit,
  StrictCommit,
  type Commit,
  type Numbered,
  type Outcome,
  type Post,
} from "./commit.ts";
import type { Repeat } from "../room/operation.ts";
import type { Draft, Room, Writer } from "../room/room.ts";
import type { ThrottledRun } from "../../clock/rates.ts";
import { PostedIds, postKey } from "../log/posted-ids.ts";

/** Sends that a small room may make ahead of its window: after quiet it commits several batches at once. */
const SENDS_AHEAD = 200;

/** The sends of one batch to so many connections take 25 ms, half of the usual window. In a larger room windows are longer in proportion. */
const WINDOW_CONNECTIONS = 1000;
const WINDOWS_MAX = 10;
/** The largest value of the setting: clients wait ten seconds for an ack. */
const WINDOW_MS_MAX = 1000;
/** Such a room may commit so many batches at once after quiet, or else a few posts a second would wait for its long windows. */
const LARGE_BURST = 2;

/**
 * The rate at which a room stores and delivers batches of posts. It follows from the number of connections, because a batch takes a send to each
 * of them.
 */
export interface BatchRate {
  /** Milliseconds from one batch to the next. */
  readonly windowMs: number;
  /** Batches that need not wait after quiet, at least 1. */
  readonly burst: number;
}

/** @param settings `FLUSH_WINDOW_MS` and `FLUSH_BURST` */
export function batchRate(
  connections: number,
  settings: { readonly flushWindowMs: number; readonly flushBurst: number },
): BatchRate {
  const windows = Math.min(Math.max(1, connections / WINDOW_CONNECTIONS), WINDOWS_MAX);
  const ahead = windows > 1 ? LARGE_BURST : Math.max(1, Math.trunc(SENDS_AHEAD / Math.max(1, connections)));
  const windowMs = Math.min(Math.round(settings.flushWindowMs * windows), WINDOW_MS_MAX);
  return { windowMs, burst: Math.min(ahead, settings.flushBurst) };
}

/** Posts in one batch at most, so that a burst cannot delay its first post. */
export const BATCH_POSTS_MAX = 64;
/** Characters that a message costs besides what people wrote: keys, quotes, times. */
const MESSAGE_CHARS = 64;

export class Posts implements Writer {
  readonly #room: Room;
  readonly #posted: PostedIds;
  #throttle!: ThrottledRun;
  #commit!: Commit;
  #afterCommit!: () => void;
  #batch: Post[] = [];
  #batchChars = 0;
  /** Posts with a `clientMsgId` that are not stored yet, in the open batch or delivered already. */
  readonly #waiting = new Map<string, Post>();

  constructor(room: Room) {
    this.#room = room;
    this.#posted = new PostedIds(room.log, room.reportProblem);
  }

  /** @param afterCommit called when messages were stored, after the acks */
  start(afterCommit: () => void): void {
    const { settings, throttled } = this.#room;
    const now = (): BatchRate => batchRate(this.#room.connectionCount, settings);
    const rate = { windowMs: () => now().windowMs, burst: () => now().burst };
    // The open batch is in memory only.
    this.#throttle = throttled("flush", rate, () => this.#closeBatch(), { keepsAwake: true });
    const outcome: Outcome = {
      settle: (numbered) => this.#settle(numbered),
      fail: (posts) => this.#fail(posts),
    };
    this.#commit = new (settings.durability === "strict" ? StrictCommit : RelaxedCommit)(this.#room, outcome);
    this.#afterCommit = afterCommit;
  }

  get seenSeq(): number {
    return this.#commit.seenSeq;
  }

  /** True where this seq has, or will have, a message: stored, delivered, or in the open batch. */
  has(seq: number): boolean {
    const { log } = this.#room;
    return seq > log.lastSeq ? seq <= this.seenSeq + this.#batch.length : log.has(seq);
  }

  /** A message as it was posted: stored, delivered, or in the open batch. */
  find(seq: number): Draft | undefined {
    const { log } = this.#room;
    const { lastSeq } = log;
    if (seq <= lastSeq) return log.find(seq)?.posted;
    return (this.#commit.unstored[seq - lastSeq - 1]?.post ?? this.#batch[seq - this.seenSeq - 1])?.draft;
  }

  /** Takes a post that was not sent before (`repeated`) and passed every rule. */
  post(draft: Draft, reply: (answer: PostAnswer) => void): void {
    const nowMs = this.#room.now();
    const pending: Post = { draft, chars: charsOf(draft), atMs: nowMs, replies: [reply] };
    if (this.#batchChars + pending.chars > BATCH_CHARS_MAX) this.#throttle.flush(nowMs);
    this.#batch.push(pending);
    this.#batchChars += pending.chars;
    if (draft.clientMsgId !== undefined) this.#waiting.set(postKey(draft.sender, draft.clientMsgId), pending);
    if (this.#batch.length >= BATCH_POSTS_MAX) this.#throttle.flush(nowMs);
    else this.#throttle.request(nowMs);
  }

  /** Stores and delivers messages that no member posted, in one piece, behind all posts so far. @returns `undefined` if that failed */
  postAll(drafts: readonly Draft[]): Message[] | undefined {
    const atMs = this.#room.now();
    this.#flush(atMs);
    const posts = drafts.map((draft) => ({ draft, chars: charsOf(draft), atMs, replies: [] }));
    return this.#commit.storeAndDeliver(posts)?.map(({ message }) => message);
  }

  /** @returns `undefined` for a post that was not sent before; the answer may wait until the first one is stored */
  repeated(sender: string, clientMsgId: string | undefined): Repeat<PostAnswer> | undefined {
    if (clientMsgId === undefined) return undefined;
    const waiting = this.#waiting.get(postKey(sender, clientMsgId));
    if (waiting) return { isSure: true, answer: (reply) => waiting.replies.push(reply) };
    try {
      const posted = this.#posted.find(sender, clientMsgId, this.#room.now());
      return posted && { isSure: true, answer: (reply) => reply({ ok: true, ...posted, duplicate: true }) };
    } catch (error) {
      this.#room.reportProblem("earlier posts could not be read", error);
      return { isSure: false, answer: (reply) => reply(notStored()) };
    }
  }

  #flush(nowMs: number): void {
    // With nothing open, the next post need not wait for a window to pass.
    if (this.#batch.length > 0) this.#throttle.flush(nowMs);
  }

  finishPosts(): void {
    this.#flush(this.#room.now());
    this.catchUp();
  }

  /** Stores messages that were delivered before they were stored, for a reader of the log. */
  catchUp(): void {
    this.#commit.catchUp();
  }

  #closeBatch(): void {
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#batch = [];
    this.#batchChars = 0;
    this.#commit.take(batch);
  }

  /** Answers the senders: a retry waits for the same message. */
  #settle(numbered: readonly Numbered[]): void {
    const { meter, now } = this.#room;
    const nowMs = now();
    countCommit(
      meter,
      numbered.map(({ post }) => nowMs - post.atMs),
    );
    for (const { post, message } of numbered) {
      this.#forget(post);
      this.#posted.note(message, message.timestamp);
      const { id, seq, timestamp } = message;
      post.replies.forEach((reply, tries) =>
        reply(tries === 0 ? { ok: true, id, seq, timestamp } : { ok: true, id, seq, timestamp, duplicate: true }),
      );
    }
    this.#afterCommit();
  }

  #fail(posts: readonly Post[]): void {
    for (const post of posts) {
      this.#forget(post);
      for (const reply of post.replies) reply(notStored());
    }
  }

  #forget({ draft: { sender, clientMsgId } }: Post): void {
    if (clientMsgId !== undefined) this.#waiting.delete(postKey(sender, clientMsgId));
  }
}

const notStored = (): PostAnswer => refuse("INTERNAL", "The message could not be stored; try again.");

function charsOf(draft: Draft): number {
  const { sender, name, content, clientMsgId = "", replyTo = "", thread = "" } = draft;
  const written = sender.length + name.length + content.length + clientMsgId.length + replyTo.length + thread.length;
  return written + fileCharsOf(draft) + MESSAGE_CHARS;
}

/** @param waitedMs of each message of a batch, until it was stored */
export function countCommit(meter: Room["meter"], waitedMs: readonly number[]): void {
  meter.observe("batch", waitedMs.length);
  // A clock that was set back meanwhile must not lower a sum.
  for (const ms of waitedMs) meter.observe("commit", Math.max(0, ms) / 1000);
}
