// A page of the list of mentions, of what the room on the screen and the directory have found: the list of rooms may not know yet that the
// reader is in that room, and a server may have no list. Pure; the list of mentions calls it.
import type { FoundMessage, MentionsAnswer } from "parley-rooms/client";

/** Refusals of a server without a list of the reader's rooms: the room on the screen is all there is. */
const NO_LIST: ReadonlySet<string> = new Set(["MISCONFIGURED", "NOT_FOUND"]);

/** Whether nothing is left out. @param answer of the directory */
export const isWhole = (answer: MentionsAnswer | undefined): boolean =>
  answer !== undefined && ("ok" in answer ? answer.isComplete : NO_LIST.has(answer.error.code));

export interface MentionsPage {
  /** The newest first. */
  readonly messages: readonly FoundMessage[];
  readonly hasMore: boolean;
}

/** @param found of each source the newest messages; of one with `limit` of them there may be older ones */
export function pageOf(found: ReadonlyArray<readonly FoundMessage[]>, limit: number): MentionsPage {
  const full = found.filter(({ length }) => length >= limit);
  // What is older than the last one of a source that has more would not be in its place.
  const reach = Math.max(-Infinity, ...full.map((messages) => messages.at(-1)!.timestamp));
  const all = new Map(found.flat().map((message) => [message.id, message]));
  const messages = [...all.values()].filter(({ timestamp }) => timestamp >= reach);
  return { messages: messages.sort((a, b) => b.timestamp - a.timestamp), hasMore: full.length > 0 };
}
