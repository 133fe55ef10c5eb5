// Looks a message up in history by its `clientMsgId`, to learn whether an unanswered post was stored. Room calls it.
import type { Message } from "../../src/protocol/chat-events.ts";
import { PAGE_MESSAGES, type FetchDone } from "./ordered-messages.ts";
import type { LookUpDone } from "./outbox.ts";
import type { StoredMessage } from "./outbox-storage.ts";

/** Pages of history read at most; a busier room keeps its secret. */
export const LOOKUP_PAGES_MAX = 10;

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
      // Something has been trimmed in between, and it may have been this.
      if (first && first.seq > after + 1) return done("unknown");
      if (!first || !page.hasMore) return done("absent");
      read(page.messages.at(-1)!.seq, pagesLeft - 1);
    });
  };
  if (triedAfterSeq === undefined) done("unknown");
  else read(triedAfterSeq, LOOKUP_PAGES_MAX);
}
