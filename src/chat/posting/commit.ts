// Stores a batch of posts, has the room show it, and hands it back to posts.ts, which acks, in this order: durability `strict`. The
// platform holds frames back until the row is durable. Called by posts.ts; relaxed-commit.ts uses its steps in another order.
import type { Message, PostAnswer } from "../../protocol/chat-events.ts";
import { writtenAs } from "../log/authorship.ts";
import { withMentions } from "../../protocol/text/mentions.ts";
import { messageId } from "../../protocol/message-id.ts";
import type { Draft, Room } from "../room/room.ts";

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
  /** The posts are stored and shown. */
  readonly settle: (posts: readonly Numbered[]) => void;
  /** The posts could not be stored. */
  readonly fail: (posts: readonly Post[]) => void;
}

/** Stores and shows the batches of posts.ts, in either durability. */
export interface Commit {
  /** The newest seq that a client can have seen. */
  readonly seenSeq: number;
  /** Takes over a batch, at least one post: all of it will be settled, or fail. */
  readonly take: (posts: readonly Post[]) => void;
  /** Stores and shows posts behind all that was seen, and at once. @returns `undefined` where they could not be stored */
  readonly storeAndShow: (posts: readonly Post[]) => readonly Numbered[] | undefined;
  /** Stores messages that were shown before they were stored. */
  readonly catchUp: () => void;
}

export class StrictCommit implements Commit {
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
    this.storeAndShow(posts);
  }

  storeAndShow(posts: readonly Post[]): readonly Numbered[] | undefined {
    const numbered = this.number(posts, this.seenSeq + 1);
    if (!numbered || !this.store(numbered)) return undefined;
    this.show(numbered);
    this.#outcome.settle(numbered);
    return numbered;
  }

  /** All messages that were shown are stored. */
  catchUp(): void {}

  /** Gives posts seqs from `firstSeq` on. @returns `undefined` where a new log cannot be given its name; the posts have failed then */
  number(posts: readonly Post[], firstSeq: number): Numbered[] | undefined {
    const { log, name: room, now } = this.#room;
    const timestamp = now();
    try {
      const { epoch, life } = log;
      return posts.map((post, at) => {
        const seq = firstSeq + at;
        const { role, ...draft } = post.draft;
        const message = withMentions({ id: messageId(epoch, seq, life), seq, room, timestamp, ...draft });
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
  show(numbered: readonly Numbered[]): void {
    try {
      this.#room.show(numbered.map(({ message }) => message));
    } catch (error) {
      this.#room.reportProblem("messages were stored and could not all be shown", error);
    }
  }
}
