// Durability `relaxed`: a busy room shows messages at once, stores them within a second, many to a row, and acks them then. A crash
// may lose messages that were shown and not stored. The room reserves their seqs first, so that no other message gets them
// (CHAT-7). Called by posts.ts.
import type { Deadline } from "../../clock/deadlines.ts";
import type { Room } from "../room/room.ts";
import { BATCH_CHARS_MAX, StrictCommit, type Commit, type Numbered, type Outcome, type Post } from "./commit.ts";

/** Shown messages are stored within this time. */
export const UNSTORED_MS_MAX = 1000;
/** Posts that may be shown and not stored, at most: they make one row. */
export const UNSTORED_POSTS_MAX = 1024;

/**
 * A room is busy when it has stored so often within `UNSTORED_MS_MAX`. Below that, showing first would cost more rows than
 * it saves: one when it begins, and one when it ends.
 */
export const BUSY_COMMITS = 3;

/** Seqs reserved beyond those that are needed now: the more, the rarer the row; a crash leaves them empty. */
const RESERVE_AHEAD = 1024;

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
  /** Whether the room shows messages before it stores them. */
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

  take(posts: readonly Post[]): void {
    const nowMs = this.#room.now();
    const chars = posts.reduce((sum, post) => sum + post.chars, 0);
    // A burst of input starves timers, so the deadline is looked at here too.
    const isLate = nowMs >= (this.#deadline.atMs ?? Infinity);
    const isOneRow =
      this.#unstored.length + posts.length <= UNSTORED_POSTS_MAX && this.#unstoredChars + chars <= BATCH_CHARS_MAX;
    if (isLate || !isOneRow) this.catchUp();
    if (!this.#mayShowFirst(posts.length, nowMs)) {
      this.storeAndShow(posts);
      return;
    }
    const numbered = this.#steps.number(posts, this.seenSeq + 1);
    if (!numbered) return;
    this.#isAhead = true;
    this.#unstored.push(...numbered);
    this.#unstoredChars += chars;
    this.#deadline.pull(nowMs + UNSTORED_MS_MAX);
    this.#steps.show(numbered);
  }

  storeAndShow(posts: readonly Post[]): readonly Numbered[] | undefined {
    this.catchUp();
    const numbered = this.#steps.storeAndShow(posts);
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

  /** Stores shown messages. After a second without any, the room stores first again, and takes the reservation back. */
  #onDeadline(): void {
    if (this.#unstored.length > 0) return this.catchUp();
    this.#isAhead = false;
    const { log } = this.#room;
    const reservedSeq = this.#reservedSeq;
    if (reservedSeq <= log.lastSeq) return;
    // All shown messages are stored, so the next object need not skip seqs. Where the reservation cannot be taken back, this
    // object skips them too, so that sleep makes no difference.
    if (!this.#reserve(log.lastSeq)) log.skip(reservedSeq);
  }

  #noteStored(isStored: boolean): void {
    // Where the storage fails, no further message is shown before it is stored.
    this.#storedAtMs = isStored ? [...this.#storedAtMs, this.#room.now()].slice(-BUSY_COMMITS) : [];
    this.#isAhead &&= isStored;
  }
}
