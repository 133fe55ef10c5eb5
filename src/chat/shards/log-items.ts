// The messages of the log that shards lack: after a gap in their stream, and for connections that recover. Made by shards.ts.
import { MISSED_MESSAGES_MAX } from "../../protocol/limits.ts";
import { MISSED_CHARS_MAX, missedCharsOf, type LogPosition, type ShardItem } from "../../protocol/shards.ts";
import type { Message, ServerToClientEvents } from "../../protocol/chat-events.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { Room } from "../room/room.ts";

export class LogItems {
  readonly #room: Room;
  readonly #changes: { readonly lastRev: number };
  /** The last look for changes: many shards ask for the same. */
  #changed: { readonly after: number; readonly lastRev: number; readonly isSo: boolean } | undefined;

  constructor(room: Room, changes: { readonly lastRev: number }) {
    this.#room = room;
    this.#changes = changes;
  }

  /** @returns the items that lead a shard from one position in the log to a later one */
  missed(from: LogPosition, to: LogPosition): ShardItem[] {
    const missed = this.#room.read((log) => {
      // The shard has heard of a log that was deleted.
      if (from.epoch !== log.epoch || this.#hasChangedAfter(from.rev)) return undefined;
      return missedItems(log, from, to);
    });
    return missed ?? [{ type: "send-away", cause: "gap" }];
  }

  /** Looks at every change that is kept. */
  #hasChangedAfter(rev: number): boolean {
    const { lastRev } = this.#changes;
    if (this.#changed?.after !== rev || this.#changed.lastRev !== lastRev) {
      const isSo = this.#room.log.changedAfter(rev, 1).length > 0;
      this.#changed = { after: rev, lastRev, isSo };
    }
    return this.#changed.isSo;
  }

  /** @returns the messages after the lowest of some seqs, as far as these are near enough; `undefined` where none are needed */
  earlier(seqs: readonly number[]): ShardItem | undefined {
    return this.#room.read((log) => earlierItem(log, Math.min(log.lastSeq, this.#room.notifiedSeq()), seqs));
  }
}

/** @returns `undefined` if there are too many, or the positions are of different logs */
function missedItems(log: MessageLog, from: LogPosition, to: LogPosition): ShardItem[] | undefined {
  const count = to.seq - from.seq;
  // That of a forgotten position is not known; an empty log has none.
  const incarnation = from.seq === 0 ? undefined : log.incarnationAt(from.seq);
  // A ruling may have dismissed members, which no later item repeats.
  const isOfThisLog =
    from.epoch === to.epoch && from.ruling === to.ruling && (incarnation === undefined || incarnation === from.life);
  if (!isOfThisLog || count < 0 || count > MISSED_MESSAGES_MAX) return undefined;
  if (count === 0) return [];
  const { messages } = log.page({ after: from.seq, limit: count });
  return messages.length < count || newest(messages).length < count ? undefined : [deliveryOf(messages)];
}

/** @param lastSeq the end of the messages */
function earlierItem(log: MessageLog, lastSeq: number, seqs: readonly number[]): ShardItem | undefined {
  const after = Math.min(...seqs.filter((seq) => seq < lastSeq && lastSeq - seq <= MISSED_MESSAGES_MAX));
  if (after === Infinity) return undefined;
  const { messages } = log.page({ after, limit: lastSeq - after });
  if (messages.length !== lastSeq - after) return undefined;
  const kept = newest(messages);
  return { type: "earlier", messages: kept, life: log.incarnationAt(lastSeq - kept.length) ?? "" };
}

/** As many of them as a shard keeps. */
function newest(messages: readonly Message[]): readonly Message[] {
  let chars = 0;
  const first = messages.findLastIndex((message) => (chars += missedCharsOf(message)) > MISSED_CHARS_MAX);
  return messages.slice(first + 1);
}

const deliveryOf = (messages: readonly Message[]): ShardItem => ({
  type: "emit",
  audience: {},
  event: "chat-message" satisfies keyof ServerToClientEvents,
  argLists: messages.map((message) => [message]),
  seqs: messages.map(({ seq }) => seq),
});
