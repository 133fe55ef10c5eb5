// Durability `relaxed`: a busy room shows messages at once, stores them within a second, many to a row, and acks them then. A crash
// may lose messages that were shown and not stored. The room reserves their places first, so that no other message gets them
// (CHAT-7). Called by posts.ts.
import type { Deadline } from "../../clock/deadlines.ts";
import { Commit, type Outcome, type Placed, type Post } from "./commit.ts";
import type { Room } from "../room/room.ts";

/** Shown messages are stored within this time. */
export const UNSTORED_MS_MAX = 1000;
/** Posts that may be shown and not stored, at most: they make one row. */
export const UNSTORED_POSTS_MAX = 1024;

/**
 * A room is busy when it has committed so often within `UNSTORED_MS_MAX`. Below that, running ahead would cost
 * more rows than it saves: one when it begins, and one when it ends.
 */
export const BUSY_COMMITS = 3;

/** Places reserved beyond those that are needed now: the more, the rarer the row; a crash leaves them empty. */
const RESERVE_AHEAD = 1024;

export class RelaxedCommit<P extends Post> extends Commit<P> {
  readonly #deadline: Deadline;
  readonly #charsMax: number;
  readonly #charsOf: (post: P) => number;
  /** Shown, and not stored yet. */
  #unstored: Array<Placed<P>> = [];
  #unstoredChars = 0;
  /** The latest commits, at most `BUSY_COMMITS`, in ms since 1970. */
  #committedAtMs: number[] = [];
  #isAhead = false;
  #reservedSeq = 0;

  /** @param size characters that one row takes, and those of a post */
  constructor(
    room: Room,
    outcome: Outcome<P>,
    size: { readonly charsMax: number; readonly charsOf: (post: P) => number },
  ) {
    super(room, outcome);
    // Shown posts are in memory only.
    this.#deadline = room.deadline("commit", () => this.#run(), { keepsAwake: true });
    this.#charsMax = size.charsMax;
    this.#charsOf = size.charsOf;
  }

  override get seenSeq(): number {
    return this.room.log.lastSeq + this.#unstored.length;
  }

  override take(posts: readonly P[]): void {
    const chars = posts.reduce((sum, post) => sum + this.#charsOf(post), 0);
    if (this.#isDue(posts.length, chars)) this.catchUp();
    if (this.#mayRunAhead(posts.length)) return this.#showFirst(posts, chars);
    this.catchUp();
    this.storeFirst(posts);
  }

  override catchUp(): void {
    const placed = this.#unstored;
    if (placed.length === 0) return;
    this.#unstored = [];
    this.#unstoredChars = 0;
    // Set also where storing fails: what was reserved has to be taken back some time.
    this.#deadline.set(this.room.now() + UNSTORED_MS_MAX);
    if (this.append(placed)) return this.outcome.settle(placed);
    this.room.log.skip(placed.at(-1)!.message.seq);
  }

  /** For the deadline: stores shown messages; a second without any ends the running ahead. */
  #run(): void {
    if (this.#unstored.length > 0) this.catchUp();
    else this.#endAhead();
  }

  /** A burst of input starves timers, so the deadline is looked at here too. */
  #isDue(posts: number, chars: number): boolean {
    const { atMs } = this.#deadline;
    const isLate = atMs !== undefined && this.room.now() >= atMs;
    return isLate || this.#unstored.length + posts > UNSTORED_POSTS_MAX || this.#unstoredChars + chars > this.#charsMax;
  }

  #mayRunAhead(posts: number): boolean {
    if (!this.#isAhead && !this.#isBusy()) return false;
    return this.seenSeq + posts <= this.#reservedSeq || this.#reserve(this.seenSeq + posts + RESERVE_AHEAD);
  }

  #isBusy(): boolean {
    const [firstMs] = this.#committedAtMs;
    return this.#committedAtMs.length === BUSY_COMMITS && this.room.now() - firstMs! < UNSTORED_MS_MAX;
  }

  #reserve(seq: number): boolean {
    try {
      this.room.log.reserve(seq);
      this.#reservedSeq = seq;
      return true;
    } catch (error) {
      this.room.report("places in the log could not be reserved", error);
      return false;
    }
  }

  #showFirst(posts: readonly P[], chars: number): void {
    const placed = this.place(posts);
    if (!placed) return;
    this.#isAhead = true;
    this.#unstored.push(...placed);
    this.#unstoredChars += chars;
    this.#deadline.pull(this.room.now() + UNSTORED_MS_MAX);
    this.show(placed);
  }

  #endAhead(): void {
    this.#isAhead = false;
    const { log } = this.room;
    const reservedSeq = this.#reservedSeq;
    if (reservedSeq <= log.lastSeq) return;
    // All shown messages are stored: the next object need not skip places. Where the reservation cannot be taken back, this
    // object skips them too, so that sleep makes no difference.
    if (!this.#reserve(log.lastSeq)) log.skip(reservedSeq);
  }

  protected override append(placed: ReadonlyArray<Placed<P>>): boolean {
    const isStored = super.append(placed);
    const committedAtMs = [...this.#committedAtMs, this.room.now()].slice(-BUSY_COMMITS);
    // The storage fails: no further message is shown before it is stored.
    this.#committedAtMs = isStored ? committedAtMs : [];
    this.#isAhead &&= isStored;
    return isStored;
  }
}
