// Message ids: opaque outside, but they say where a message is, so that finding one needs no index. The room and the client call it.
import type { Message } from "./schemas/messages.ts";

/** The contents of an id: a message's seq, and the incarnation of the log in which it was posted. */
export interface ParsedMessageId {
  readonly seq: number;
  readonly incarnation: string;
}

/**
 * @param epoch the log's own name, which makes the id unique everywhere
 * @param incarnation tells it from a message that had the same seq, where a backup has been restored since (incarnations.ts)
 */
export function messageId(epoch: string, seq: number, incarnation = ""): string {
  return `${epoch}${incarnation}-${seq.toString(36)}`;
}

/** The `id` of the first message of the thread of a reply (THR-1); `undefined` for a message that is no reply. */
export const threadOf = ({ thread, replyTo }: Pick<Message, "thread" | "replyTo">): string | undefined =>
  thread ?? replyTo;

/** @returns `undefined` for an id of another log. Another message may have the seq by now. */
export function parseMessageId(epoch: string, id: string): ParsedMessageId | undefined {
  const dash = id.lastIndexOf("-");
  if (!id.startsWith(epoch) || dash < epoch.length) return undefined;
  const seq = Number.parseInt(id.slice(dash + 1), 36);
  const incarnation = id.slice(epoch.length, dash);
  return messageId(epoch, seq, incarnation) === id ? { seq, incarnation } : undefined;
}
