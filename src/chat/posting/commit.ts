// Stores a batch of posts, has the room deliver it, and hands it back to posts.ts, which acks, in this order: durability `strict`. The
// platform holds frames back until the row is durable. Durability `relaxed` takes the same steps in another order. Called by posts.ts.
import type { Message, PostAnswer } from "../../protocol/chat-events.ts";
import { writtenAs } from "../log/batch-format.ts";
import { withMentions } from "../../protocol/text/mentions.ts";
import { messageId } from "../../protocol/message.ts";
import type { Draft, Room } from "../room/room.ts";
import type { Deadline } from "../../clock/deadlines.ts";

/**
 * Characters in one row at most, names and ids among them. JSON and UTF-8 make at most 6 bytes of one, so a row stays below
 * the 2 MB that the platform takes, with any characters.
 */
export const BATCH_CHARS_MAX = 250_000;

/** A post that waits to be stored. */
export interface Post {
  readonly draft: Draft;
  /** Characters that it takes in a row, at most. */
  readonly chars: number;
  /** Arrival, in milliseconds since 1970. */
  readonly atMs: number;
  /** Replies to the first try and to retries. */
  readonly replies: Array<(answer: PostAnswer) => void>;
}

/** A post, and the message that it becomes: with a seq and a time. */
export interface Numbered {
  readonly post: Post;
  readonly message: Message;
}

/** Answers the senders. */
export interface Outcome {
  /** The posts are stored and delivered. */
  readonly settle: (posts: readonly Numbered[]) => void;
  /** The posts could not be stored. */
  readonly fail: (posts: readonly Post[]) => void;
}

/** Stores and delivers the batches of posts.ts, in either durability. */
export interface Commit {
  /** The newest seq that a client can have seen. */
  readonly seenSeq: number;
  /** Messages that were delivered and are not stored yet. */
  readonly unstored: readonly Numbered[];
  /** Takes over a batch, at least one post: all of it will be settled, or fail. */
  readonly take: (posts: readonly Post[]) => void;
  /** Stores and delivers posts behind all that was seen, and at once. @returns `undefined` where they could not be stored */
  readonly storeAndDeliver: (posts: readonly Post[]) => readonly Numbered[] | undefined;
  /** Stores messages that were delivered before they were stored. */
  readonly catchUp: () => void;
}

/** Durability `strict`: stores first. */
export class StrictCommit implements Commit {
  readonly unstored: readonly Numbered[] = [];
  readonly #room: Room;
  readonly #outcome: Outcome;

  constructor(room: Room, outcome: Outcome) {
    this.#room = room;
    this.#outcome = outcome;
  }

  get seenSeq(): number {
    return this.#room.log.lastSeq;
  }

  take(posts: readonly Post[]): void {
    this.storeAndDeliver(posts);
  }

  storeAndDeliver(posts: readonly Post[]): readonly Numbered[] | undefined {
    const numbered = this.number(posts, this.seenSeq + 1);
    if (!numbered || !this.store(numbered)) return undefined;
    this.deliver(numbered);
    this.#outcome.settle(numbered);
    return numbered;
  }

  /** All messages that were delivered are stored. */
  catchUp(): void {}

  /** Gives posts seqs from `firstSeq` on. @returns `undefined` where a new log cannot be given its name; the posts have failed then */
  number(posts: readonly Post[], firstSeq: number): Numbered[] | undefined {
    const { log, name: room, now } = this.#room;
    const timestamp = now();
    try {
      const { epoch, incarnation } = log;
      return posts.map((post, at) => {
        const seq = firstSeq + at;
        const { role, ...draft } = post.draft;
        const message = withMentions({ id: messageId(epoch, seq, incarnation), seq, room, timestamp, ...draft });
        return { post, message: writtenAs(message, role) };
      });
    } catch (error) {
      this.#room.reportProblem("messages could not be given their ids", error);
      this.#outcome.fail(posts);
      return undefined;
    }
  }

  /** @returns whether the posts are stored now; they have failed otherwise */
  store(numbered: readonly Numbered[]): boolean {
    try {
      this.#room.log.append(numbered.map(({ message }) => message));
      return true;
    } catch (error) {
      this.#room.reportProblem("messages could not be stored", error);
      this.#outcome.fail(numbered.map(({ post }) => post));
      return false;
    }
  }

  /** An error here does not stop the acks: the posts are stored. */
  deliver(numbered: readonly Numbered[]): void {
    try {
      this.#room.deliver(numbered.map(({ message }) => message));
    } catch (error) {
      this.#room.reportProblem("messages were stored and could not all be shown", error);
    }
  }
}

/** Shown messages are stored within this time. */
export const UNSTORED_MS_MAX = 1000;
/** Posts that may be delivered and not stored, at most: they make one row. */
export const UNSTORED_POSTS_MAX = 1024;

/**
 * A room is busy when it has stored so often within `UNSTORED_MS_MAX`. Below that, delivering first would cost more rows than
 * it saves: one when it begins, and one when it ends.
 */
export const BUSY_COMMITS = 3;

/** Seqs reserved beyond those that are needed now: the more, the rarer the row; a crash leaves them empty. */
const RESERVE_AHEAD = 1024;

/**
 * Durability `relaxed`: a busy room delivers messages at once, stores them within a second, many to a row, and acks them then. A crash may lose
 * messages that were delivered and not stored. The room reserves their seqs first, so that no other message gets them (CHAT-7).
 */
export class RelaxedCommit implements Commit {
  readonly #room: Room;
  readonly #outcome: Outcome;
  readonly #steps: StrictCommit;
  readonly #deadline: Deadline;
  /** Shown, and not stored yet. */
  #unstored: Numbered[] = [];
  #unstoredChars = 0;
  /** The latest times of storing, at most `BUSY_COMMITS`, in ms since 1970. */
  #storedAtMs: number[] = [];
  /** Whether the room delivers messages before it stores them. */
  #isAhead = false;
  #reservedSeq = 0;

  constructor(room: Room, outcome: Outcome) {
    this.#room = room;
    this.#outcome = outcome;
    this.#steps = new StrictCommit(room, outcome);
    // Shown posts are in memory only.
    this.#deadline = room.deadline("store-shown", () => this.#onDeadline(), { keepsAwake: true });
  }

  get seenSeq(): number {
    return this.#room.log.lastSeq + this.#unstored.length;
  }

  get unstored(): readonly Numbered[] {
    return this.#unstored;
  }

  take(posts: readonly Post[]): void {
    const nowMs = this.#room.now();
    const chars = posts.reduce((sum, post) => sum + post.chars, 0);
    // A burst of input starves timers, so the deadline is looked at here too.
    const isLate = nowMs >= (this.#deadline.atMs ?? Infinity);
    const isOneRow =
      this.#unstored.length + posts.length <= UNSTORED_POSTS_MAX && this.#unstoredChars + chars <= BATCH_CHARS_MAX;
    if (isLate || !isOneRow) this.catchUp();
    if (!this.#mayShowFirst(posts.length, nowMs)) {
      this.storeAndDeliver(posts);
      return;
    }
    const numbered = this.#steps.number(posts, this.seenSeq + 1);
    if (!numbered) return;
    this.#isAhead = true;
    this.#unstored.push(...numbered);
    this.#unstoredChars += chars;
    this.#deadline.pull(nowMs + UNSTORED_MS_MAX);
    this.#steps.deliver(numbered);
  }

  storeAndDeliver(posts: readonly Post[]): readonly Numbered[] | undefined {
    this.catchUp();
    const numbered = this.#steps.storeAndDeliver(posts);
    this.#noteStored(numbered !== undefined);
    return numbered;
  }

  #mayShowFirst(posts: number, nowMs: number): boolean {
    const [firstMs] = this.#storedAtMs;
    const isBusy = this.#storedAtMs.length === BUSY_COMMITS && nowMs - firstMs! < UNSTORED_MS_MAX;
    if (!this.#isAhead && !isBusy) return false;
    const lastSeq = this.seenSeq + posts;
    return lastSeq <= this.#reservedSeq || this.#reserve(lastSeq + RESERVE_AHEAD);
  }

  #reserve(seq: number): boolean {
    try {
      this.#room.log.reserve(seq);
      this.#reservedSeq = seq;
      return true;
    } catch (error) {
      this.#room.reportProblem("seqs of the log could not be reserved", error);
      return false;
    }
  }

  catchUp(): void {
    const numbered = this.#unstored;
    if (numbered.length === 0) return;
    this.#unstored = [];
    this.#unstoredChars = 0;
    // Set also where storing fails, because the reservation has to be taken back some time.
    this.#deadline.set(this.#room.now() + UNSTORED_MS_MAX);
    const isStored = this.#steps.store(numbered);
    this.#noteStored(isStored);
    if (isStored) this.#outcome.settle(numbered);
    else this.#room.log.skip(numbered.at(-1)!.message.seq);
  }

  /** Stores delivered messages. After a second without any, the room stores first again, and takes the reservation back. */
  #onDeadline(): void {
    if (this.#unstored.length > 0) return this.catchUp();
    this.#isAhead = false;
    const { log } = this.#room;
    const reservedSeq = this.#reservedSeq;
    if (reservedSeq <= log.lastSeq) return;
    // All delivered messages are stored, so the next object need not skip seqs. Where the reservation cannot be taken back, this
    // object skips them too, so that sleep makes no difference.
    if (!this.#reserve(log.lastSeq)) log.skip(reservedSeq);
  }

  #noteStored(isStored: boolean): void {
    // Where the storage fails, no further message is delivered before it is stored.
    this.#storedAtMs = isStored ? [...this.#storedAtMs, this.#room.now()].slice(-BUSY_COMMITS) : [];
    this.#isAhead &&= isStored;
  }
}
