// Index of recent client message ids, so that a post sent again finds the first one (CHAT-4). Called by posting/posts.ts. In
// memory; after sleep it is read from the log.
import type { Message } from "../../protocol/chat-events.ts";
import { UnreadableBatch } from "./batch-format.ts";
import { newestSince, type MessageLog } from "./message-log.ts";

/** A post sent again within this time of the first is recognised. */
export const DEDUPE_WINDOW_MS = 10 * 60_000;
/** Ids remembered at most; beyond it the oldest go first, however young. */
export const DEDUPE_IDS_MAX = 65_536;

/** The ack of the first post. */
export type Posted = Pick<Message, "id" | "seq" | "timestamp">;

export class PostedIds {
  readonly #log: MessageLog;
  readonly #report: (problem: string, error: unknown) => void;
  /** Insertion order is posting order: the oldest stand first. */
  #posted: Map<string, Posted> | undefined;

  constructor(log: MessageLog, report: (problem: string, error: unknown) => void) {
    this.#log = log;
    this.#report = report;
  }

  find(user: string, clientMsgId: string, nowMs: number): Posted | undefined {
    const posted = this.#read(nowMs).get(postKey(user, clientMsgId));
    // An id whose message was trimmed is unknown: a room that slept would not know it either.
    const isKnown = posted && posted.seq >= this.#log.firstSeq && nowMs - posted.timestamp <= DEDUPE_WINDOW_MS;
    return isKnown ? posted : undefined;
  }

  /** Notes a message that has just been stored. */
  note(message: Message, nowMs: number): void {
    if (message.clientMsgId === undefined) return;
    const posted = this.#read(nowMs);
    const key = postKey(message.sender, message.clientMsgId);
    // An id that is used again after the window goes to the end of the line.
    posted.delete(key);
    posted.set(key, slim(message));
    for (const [oldest, { timestamp }] of posted) {
      if (posted.size <= DEDUPE_IDS_MAX && nowMs - timestamp <= DEDUPE_WINDOW_MS) break;
      posted.delete(oldest);
    }
  }

  /** A room without client message ids never reads its log for them. */
  #read(nowMs: number): Map<string, Posted> {
    return (this.#posted ??= this.#readBack(nowMs));
  }

  #readBack(nowMs: number): Map<string, Posted> {
    const newestFirst: Array<[string, Posted]> = [];
    try {
      for (const message of newestSince(this.#log, nowMs - DEDUPE_WINDOW_MS)) {
        if (message.clientMsgId !== undefined)
          newestFirst.push([postKey(message.sender, message.clientMsgId), slim(message)]);
        if (newestFirst.length >= DEDUPE_IDS_MAX) break;
      }
    } catch (error) {
      // A room without posts would be worse than one that takes an old post sent again for a new one.
      if (!(error instanceof UnreadableBatch)) throw error;
      this.#report("posts before an unreadable batch are not recognised when they are sent again", error);
    }
    return new Map(newestFirst.reverse());
  }
}

const slim = ({ id, seq, timestamp }: Message): Posted => ({ id, seq, timestamp });

/** The length in front keeps `("a", "b:c")` and `("a:b", "c")` apart, for any strings. */
export function postKey(user: string, clientMsgId: string): string {
  return `${user.length}:${user}:${clientMsgId}`;
}
