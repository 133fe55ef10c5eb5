// Group commit: posts that arrive while a batch is open share one append and one fan-out (CHAT-2). The commit (commit.ts,
// relaxed-commit.ts) stores and shows them (CHAT-7). Called by posting.ts.
import type { Message, PostAnswer } from "../../protocol/chat-events.ts";
import { refuse } from "../room/answers.ts";
import { Commit, type Outcome, type Placed } from "./commit.ts";
import type { Draft } from "../log/draft.ts";
import { countCommit } from "../room/metering.ts";
import type { Room, Writer } from "../room/room.ts";
import { ThrottledRun } from "../../clock/throttle.ts";
import { PostedIds, postKey } from "../log/posted-ids.ts";
import { RelaxedCommit } from "./relaxed-commit.ts";

/** Posts in one batch at most, so that a burst cannot delay its first post. */
export const BATCH_POSTS_MAX = 64;
/**
 * Characters in one row at most, names and ids among them. JSON and UTF-8 make at most 6 bytes of one, so a
 * row stays below the 2 MB that the platform takes, whatever people write.
 */
export const BATCH_CHARS_MAX = 250_000;
/** Characters that a message costs besides what people wrote: keys, quotes, times. */
const MESSAGE_CHARS = 64;

interface Pending {
  readonly draft: Draft;
  readonly chars: number;
  /** Arrival, in milliseconds since 1970. */
  readonly atMs: number;
  /** Replies to the first try and to retries. */
  readonly replies: Array<(answer: PostAnswer) => void>;
}

export class Posts implements Writer {
  readonly #room: Room;
  readonly #posted: PostedIds;
  #throttle!: ThrottledRun;
  #commit!: Commit<Pending>;
  #onStored!: () => void;
  #batch: Pending[] = [];
  #batchChars = 0;
  /** Posts with a `clientMsgId` that are not stored yet, in the open batch or shown already. */
  readonly #waiting = new Map<string, Pending>();

  constructor(room: Room) {
    this.#room = room;
    this.#posted = new PostedIds(room.log, room.report);
  }

  /** @param onStored called when messages were stored, after the acks */
  start(onStored: () => void): void {
    const { settings, deadline } = this.#room;
    // The open batch is in memory only.
    const flushDeadline = deadline("flush", (nowMs) => this.flush(nowMs), { keepsAwake: true });
    this.#throttle = new ThrottledRun(settings.flushWindowMs, flushDeadline, () => this.#closeBatch());
    this.#commit = this.#makeCommit();
    this.#onStored = onStored;
  }

  #makeCommit(): Commit<Pending> {
    const outcome: Outcome<Pending> = {
      stored: (placed) => this.#count(placed),
      settle: (placed) => this.#settle(placed),
      fail: (posts) => this.#fail(posts),
    };
    if (this.#room.settings.durability === "strict") return new Commit(this.#room, outcome);
    return new RelaxedCommit(this.#room, outcome, { charsMax: BATCH_CHARS_MAX, charsOf: ({ chars }) => chars });
  }

  /** The newest place that anybody can have seen a message at. */
  get seenSeq(): number {
    return this.#commit.seenSeq;
  }

  /** True where this place has, or will have, a message: stored, shown, or in the open batch. */
  has(seq: number): boolean {
    const { log } = this.#room;
    return seq > log.lastSeq ? seq <= this.seenSeq + this.#batch.length : log.has(seq);
  }

  /** Takes a post that is not known yet (`answerKnown`) and passed every rule. */
  post(draft: Draft, reply: (answer: PostAnswer) => void): void {
    const nowMs = this.#room.now();
    const pending: Pending = { draft, chars: charsOf(draft), atMs: nowMs, replies: [reply] };
    if (this.#batchChars + pending.chars > BATCH_CHARS_MAX) this.#throttle.flush(nowMs);
    this.#batch.push(pending);
    this.#batchChars += pending.chars;
    if (draft.clientMsgId !== undefined) this.#waiting.set(postKey(draft.sender, draft.clientMsgId), pending);
    if (this.#batch.length >= BATCH_POSTS_MAX) this.#throttle.flush(nowMs);
    else this.#throttle.request(nowMs);
  }

  /** Stores and shows messages that no member posted, in one piece, behind all posts so far. @returns `undefined` if that failed */
  take(drafts: readonly Draft[]): Message[] | undefined {
    const atMs = this.#room.now();
    this.flush(atMs);
    const posts = drafts.map((draft) => ({ draft, chars: charsOf(draft), atMs, replies: [] }));
    return this.#commit.takeAtOnce(posts)?.map(({ message }) => message);
  }

  /** Answers a post that was sent before, at once or when the first one is stored. @returns whether it was */
  answerKnown(sender: string, clientMsgId: string | undefined, reply: (answer: PostAnswer) => void): boolean {
    if (clientMsgId === undefined) return false;
    const waiting = this.#waiting.get(postKey(sender, clientMsgId));
    const earlier = waiting ? undefined : this.#findEarlier(sender, clientMsgId, this.#room.now());
    waiting?.replies.push(reply);
    if (earlier) reply(earlier);
    return waiting !== undefined || earlier !== undefined;
  }

  /** True where a post was stored before, or is about to be. */
  isKnown(sender: string, clientMsgId: string | undefined): boolean {
    if (clientMsgId === undefined) return false;
    if (this.#waiting.has(postKey(sender, clientMsgId))) return true;
    const earlier = this.#findEarlier(sender, clientMsgId, this.#room.now());
    return earlier !== undefined && "ok" in earlier;
  }

  /** The answer to a post that was stored before; an error where the log cannot be read. */
  #findEarlier(sender: string, clientMsgId: string, nowMs: number): PostAnswer | undefined {
    try {
      const posted = this.#posted.find(sender, clientMsgId, nowMs);
      return posted && { ok: true, ...posted, duplicate: true };
    } catch (error) {
      this.#room.report("earlier posts could not be read", error);
      return notStored();
    }
  }

  /** Closes the open batch; for the deadline that `#throttle` set. */
  flush(nowMs: number): void {
    // With nothing open, the next post need not wait for a window to pass.
    if (this.#batch.length > 0) this.#throttle.flush(nowMs);
  }

  commit(): void {
    this.flush(this.#room.now());
    this.catchUp();
  }

  /** Stores messages that were shown before they were stored, for a reader of the log. */
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

  #count(placed: ReadonlyArray<Placed<Pending>>): void {
    const nowMs = this.#room.now();
    countCommit(
      this.#room.meter,
      placed.map(({ post }) => nowMs - post.atMs),
    );
  }

  #settle(placed: ReadonlyArray<Placed<Pending>>): void {
    for (const { post, message } of placed) {
      this.#forget(post);
      this.#posted.note(message, message.timestamp);
      const { id, seq, timestamp } = message;
      post.replies.forEach((reply, tries) =>
        reply(tries === 0 ? { ok: true, id, seq, timestamp } : { ok: true, id, seq, timestamp, duplicate: true }),
      );
    }
    this.#onStored();
  }

  #fail(posts: readonly Pending[]): void {
    for (const post of posts) {
      this.#forget(post);
      for (const reply of post.replies) reply(notStored());
    }
  }

  #forget({ draft: { sender, clientMsgId } }: Pending): void {
    if (clientMsgId !== undefined) this.#waiting.delete(postKey(sender, clientMsgId));
  }
}

const notStored = (): PostAnswer => refuse("INTERNAL", "The message could not be stored; try again.");

function charsOf({ sender, name, content, clientMsgId = "", replyTo = "", attachment }: Draft): number {
  const ofAttachment = attachment ? attachment.key.length + attachment.name.length + attachment.type.length : 0;
  const written = sender.length + name.length + content.length + clientMsgId.length + replyTo.length;
  return written + ofAttachment + MESSAGE_CHARS;
}
