// The event `history`: pages of the room's log (MSG-9).
import type { PayloadOf } from "../../protocol/event.ts";
import { HISTORY } from "../../protocol/events/messages.ts";
import type { ErrorAnswer, HistoryAnswer } from "../../protocol/chat-events.ts";
import { refuse } from "../../protocol/refuse.ts";
import { ANSWER_BYTES_MAX, fitFirst, fitLast } from "../room/fitting.ts";
import type { MessageLog, Page } from "../log/message-log.ts";
import { seqAtTime } from "../log/seq-at-time.ts";
import { handler } from "../room/operation.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Room } from "../room/room.ts";

export class History implements RoomPart {
  readonly operations;

  constructor({ catchUp, read }: Room) {
    this.operations = [
      handler(HISTORY, (_caller, query) => {
        catchUp();
        const page = read((log) => readPage(log, query));
        return page ? { ok: true, ...page } : refuse("INTERNAL", "The history could not be read.");
      }),
    ];
  }
}

type HistoryPage = Omit<Exclude<HistoryAnswer, ErrorAnswer>, "ok">;

function readPage(log: MessageLog, query: PayloadOf<typeof HISTORY>): HistoryPage {
  const { limit, before, after, around, beforeTime, afterTime } = query;
  if (around !== undefined) return pageAround(log, around, limit);
  if (beforeTime !== undefined) return cutOlder(log.page({ limit, before: seqAtTime(log, beforeTime) }));
  if (afterTime !== undefined) return cutNewer(log.page({ limit, after: seqAtTime(log, afterTime + 1) - 1 }));
  if (after !== undefined) return cutNewer(log.page({ limit, after }));
  return cutOlder(log.page({ limit, ...(before !== undefined && { before }) }));
}

/** MSG-11, for a page that goes back in time. */
function cutOlder({ messages, hasMore }: Page, bytesMax = ANSWER_BYTES_MAX): Page {
  const kept = fitLast(messages, { bytesMax });
  return { messages: kept, hasMore: hasMore || kept.length < messages.length };
}

/** MSG-11, for a page that goes on in time. */
function cutNewer({ messages, hasMore }: Page, bytesMax = ANSWER_BYTES_MAX, countMin = 1): Page {
  const kept = fitFirst(messages, { bytesMax, countMin });
  return { messages: kept, hasMore: hasMore || kept.length < messages.length };
}

/** A place in the middle of a page; where there is less on one side, the other gets no more. */
function pageAround(log: MessageLog, seq: number, limit: number): HistoryPage {
  const older = cutOlder(log.page({ before: seq + 1, limit: Math.ceil(limit / 2) }), ANSWER_BYTES_MAX / 2);
  const newerMin = older.messages.length === 0 ? 1 : 0;
  const newer = cutNewer(log.page({ after: seq, limit: Math.floor(limit / 2) || 1 }), ANSWER_BYTES_MAX / 2, newerMin);
  const newest = limit === 1 ? [] : newer.messages;
  return {
    messages: [...older.messages, ...newest],
    hasMore: older.hasMore,
    hasMoreAfter: newer.hasMore || newest.length < newer.messages.length,
  };
}
