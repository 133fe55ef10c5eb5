// Stores a batch of posts, has the room show it, and reports it to posts.ts, which acks, in this order: durability `strict`. The
// platform holds frames back until the row is durable. Called by posts.ts.
import type { Message } from "../../protocol/chat-events.ts";
import { writtenAs } from "../log/authorship.ts";
import { withMentions } from "../log/mentions.ts";
import { messageId } from "../log/message-id.ts";
import type { Draft } from "../log/draft.ts";
import type { Room } from "../room/room.ts";

/** A post that waits to be stored. */
export interface Post {
  readonly draft: Draft;
}

/** A post that was given its place. */
export interface Placed<P extends Post> {
  readonly post: P;
  readonly message: Message;
}

/** Called with what became of posts. */
export interface Outcome<P extends Post> {
  /** The posts are stored, and not shown yet. */
  readonly stored: (posts: ReadonlyArray<Placed<P>>) => void;
  /** The posts are stored and shown. */
  readonly settle: (posts: ReadonlyArray<Placed<P>>) => void;
  /** The posts could not be stored. */
  readonly fail: (posts: readonly P[]) => void;
}

export class Commit<P extends Post> {
  protected readonly room: Room;
  protected readonly outcome: Outcome<P>;

  constructor(room: Room, outcome: Outcome<P>) {
    this.room = room;
    this.outcome = outcome;
  }

  /** The newest place that anybody can have seen a message at. */
  get seenSeq(): number {
    return this.room.log.lastSeq;
  }

  /** Takes over a batch, at least one post: all of it will be settled, or fail. */
  take(posts: readonly P[]): void {
    this.storeFirst(posts);
  }

  /** Stores and shows posts behind all that was seen, and at once. @returns them where that was done; they have failed otherwise */
  takeAtOnce(posts: readonly P[]): ReadonlyArray<Placed<P>> | undefined {
    this.catchUp();
    return this.storeFirst(posts);
  }

  /** Stores messages that were shown before they were stored. `strict` has none. */
  catchUp(): void {}

  protected storeFirst(posts: readonly P[]): ReadonlyArray<Placed<P>> | undefined {
    const placed = this.place(posts);
    if (!placed || !this.append(placed)) return undefined;
    this.show(placed);
    this.outcome.settle(placed);
    return placed;
  }

  /** A failure here does not stop the acks: the posts are stored. */
  protected show(placed: ReadonlyArray<Placed<P>>): void {
    try {
      this.room.show(placed.map(({ message }) => message));
    } catch (error) {
      this.room.report("messages were stored and could not all be shown", error);
    }
  }

  /** @returns `undefined` where a log that has no name yet cannot be given one; the posts have failed then */
  protected place(posts: readonly P[]): Array<Placed<P>> | undefined {
    const { log, name: room, now } = this.room;
    const [firstSeq, timestamp] = [this.seenSeq + 1, now()];
    try {
      const { epoch, life } = log;
      return posts.map((post, at) => {
        const seq = firstSeq + at;
        const { role, ...draft } = post.draft;
        const message = withMentions({ id: messageId(epoch, seq, life), seq, room, timestamp, ...draft });
        return { post, message: writtenAs(message, role) };
      });
    } catch (error) {
      this.room.report("messages could not be given their places", error);
      this.outcome.fail(posts);
      return undefined;
    }
  }

  /** @returns whether the posts are stored now; they have failed otherwise */
  protected append(placed: ReadonlyArray<Placed<P>>): boolean {
    try {
      this.room.log.append(placed.map(({ message }) => message));
    } catch (error) {
      this.room.report("messages could not be stored", error);
      this.outcome.fail(placed.map(({ post }) => post));
      return false;
    }
    this.outcome.stored(placed);
    return true;
  }
}
