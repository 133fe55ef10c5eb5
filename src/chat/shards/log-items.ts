// The messages of the log that shards lack: after a gap in their feed, and for connections that recover. Called by shards.ts.
import type { Message, ServerToClientEvents } from "../../protocol/chat-events.ts";
import type { LogPlace, ShardItem } from "../../protocol/shards.ts";
import type { MessageLog } from "../log/message-log.ts";

/** SHD-4: messages that a shard is told at most, and characters of their texts; one that missed more closes its connections. */
const MESSAGES_MAX = 1000;
const CHARS_MAX = 500_000;

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
  if (!isOfThisLog || count < 0 || count > MESSAGES_MAX) return undefined;
  if (count === 0) return [];
  const { messages } = log.page({ after: from.seq, limit: count });
  const chars = messages.reduce((sum, { content }) => sum + content.length, 0);
  return messages.length < count || chars > CHARS_MAX ? undefined : [shown(messages)];
}

/** @returns the messages behind the lowest of some seqs, as far as that is near enough; `undefined` where none are needed */
export function earlierItem(log: MessageLog, seqs: readonly number[]): ShardItem | undefined {
  const { lastSeq } = log;
  const after = Math.min(...seqs.filter((seq) => seq < lastSeq && lastSeq - seq <= MESSAGES_MAX));
  if (after === Infinity) return undefined;
  const { messages } = log.page({ after, limit: MESSAGES_MAX });
  if (messages.length !== lastSeq - after) return undefined;
  return { type: "earlier", messages, life: log.lifeAt(after) ?? "" };
}

const shown = (messages: readonly Message[]): ShardItem => ({
  type: "emit",
  audience: {},
  event: "chat-message" satisfies keyof ServerToClientEvents,
  argLists: messages.map((message) => [message]),
  seqs: messages.map(({ seq }) => seq),
});
