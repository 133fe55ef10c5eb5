// Looks a message up in history by its `clientMsgId`, to learn whether an unanswered post was stored. Room calls it.
import type { ErrorAnswer, Message } from "../../src/protocol/chat-events.ts";
import type { SentAnswer } from "./api.ts";
import { PAGE_MESSAGES, type FetchDone } from "./ordered-messages.ts";
import type { StoredMessage } from "./outbox-storage.ts";

/** Pages of history read at most; in a busier room the outcome stays unknown. */
export const LOOKUP_PAGES_MAX = 10;

/** Where a message stands in the room. */
export type Posted = Omit<SentAnswer, "ok">;

/**
 * The place of a message in history, `absent`, or `unknown` where history does not tell; `undefined`: the room did not answer.
 */
type LookedUp = Posted | "absent" | "unknown" | undefined;

/** @param error why the room did not answer, where it gave a reason */
export type LookUpDone = (found: LookedUp, error?: ErrorAnswer["error"]) => void;

type Fetch = (after: number, limit: number, done: FetchDone) => void;

/** @param done gets `absent` only after everything since the first try was read */
export function lookUpPosted(
  fetch: Fetch,
  user: string,
  { clientMsgId, triedAfterSeq }: StoredMessage,
  done: LookUpDone,
): void {
  const isIt = (message: Message): boolean => message.sender === user && message.clientMsgId === clientMsgId;
  const read = (after: number, pagesLeft: number): void => {
    if (pagesLeft === 0) return done("unknown");
    fetch(after, PAGE_MESSAGES, (page, error) => {
      if (!page) return done(undefined, error);
      const found = page.messages.find(isIt);
      if (found) return done(found);
      const [first] = page.messages;
      // Messages in between were trimmed, and this may have been one of them.
      if (first && first.seq > after + 1) return done("unknown");
      if (!first || !page.hasMore) return done("absent");
      read(page.messages.at(-1)!.seq, pagesLeft - 1);
    });
  };
  if (triedAfterSeq === undefined) done("unknown");
  else read(triedAfterSeq, LOOKUP_PAGES_MAX);
}
