// The vocabulary of searching: what is looked for, and what is found.
import type { Answer, Message } from "./chat-events.ts";

/** What is asked for has to hold all together. */
export interface SearchPayload {
  /** Words, all of which a message has to have; `"a phrase"`; `begin*`. May be left out where `from` is given. */
  readonly query?: string;
  /** A user id: of the author. */
  readonly from?: string;
  /** Exclusive bounds of `timestamp`, in milliseconds since 1970. */
  readonly beforeTime?: number;
  readonly afterTime?: number;
  /** Of `seq`, exclusive: the `before` of the answer that is to go on. */
  readonly before?: number;
  readonly limit?: number;
}

/** UTF-16 positions in `content`: the first of what was found, and the one after its last. */
export type MatchRange = readonly [from: number, to: number];

export interface FoundMessage extends Message {
  /** What was found of the words, ascending; the first ones of many. Empty where only `from` was asked for. */
  readonly matches: readonly MatchRange[];
}

/**
 * Newest first. `hasMore`: there are older messages that have not been looked at; asking again with `before` goes on with
 * them, and may find none. Only then a page may hold fewer than `limit`.
 */
export type SearchAnswer = Answer<{
  readonly messages: readonly FoundMessage[];
  readonly hasMore: boolean;
  /** Everything from this `seq` on has been looked at. */
  readonly before: number;
}>;

export interface SearchClientEvents {
  search: (payload: SearchPayload, ack?: (answer: SearchAnswer) => void) => void;
}
