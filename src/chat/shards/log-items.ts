// The messages of the log that shards lack: after a gap in their feed, and for connections that recover. Called by shards.ts.
import { MISSED_CHARS_MAX, MISSED_MESSAGES_MAX, type LogPlace, type ShardItem } from "../../protocol/shards.ts";
import type { Message, ServerToClientEvents } from "../../protocol/chat-events.ts";
import type { MessageLog } from "../log/message-log.ts";

/**
 * @returns the items that lead a shard from one place of the log to a later one, where no message was changed since; `undefined` where there
 * are too many
 */
export function missedItems(log: MessageLog, from: LogPlace, to: LogPlace): ShardItem[] | undefined {
  const count = to.seq - from.seq;
  // That of a forgotten place is not known; an empty log has none.
  const life = from.seq === 0 ? undefined : log.lifeAt(from.seq);
  // A ruling may have dismissed members, which no later item repeats.
  const isOfThisLog =
    from.epoch === to.epoch && from.ruling === to.ruling && (life === undefined || life === from.life);
  if (!isOfThisLog || count < 0 || count > MISSED_MESSAGES_MAX) return undefined;
  if (count === 0) return [];
  const { messages } = log.page({ after: from.seq, limit: count });
  return messages.length < count || newest(messages).length < count ? undefined : [shown(messages)];
}

/** @returns the messages behind the lowest of some seqs, as far as these are near enough; `undefined` where none are needed */
export function earlierItem(log: MessageLog, seqs: readonly number[]): ShardItem | undefined {
  const { lastSeq } = log;
  const after = Math.min(...seqs.filter((seq) => seq < lastSeq && lastSeq - seq <= MISSED_MESSAGES_MAX));
  if (after === Infinity) return undefined;
  const { messages } = log.page({ after, limit: MISSED_MESSAGES_MAX });
  if (messages.length !== lastSeq - after) return undefined;
  const kept = newest(messages);
  return { type: "earlier", messages: kept, life: log.lifeAt(lastSeq - kept.length) ?? "" };
}

/** As many of them as a shard keeps. */
function newest(messages: readonly Message[]): readonly Message[] {
  let chars = 0;
  const first = messages.findLastIndex(({ content }) => (chars += content.length) > MISSED_CHARS_MAX);
  return messages.slice(first + 1);
}

const shown = (messages: readonly Message[]): ShardItem => ({
  type: "emit",
  audience: {},
  event: "chat-message" satisfies keyof ServerToClientEvents,
  argLists: messages.map((message) => [message]),
  seqs: messages.map(({ seq }) => seq),
});
