// The events about threads: a message with its replies (THR-1 to THR-6). Their handlers: src/features/threads/threads.ts.
import * as z from "zod/mini";

import { REPLIES_LIMIT_DEFAULT, REPLIES_LIMIT_MAX, THREADS_LIMIT_DEFAULT, THREADS_LIMIT_MAX } from "../limits.ts";
import { defineEvent, emitted, type AnswerOf } from "../event.ts";
import { described, named } from "../schemas/described.ts";
import { count, limitOf, messageId as id, type Given, type Sent } from "../schemas/fields.ts";
import { messageSchema } from "../schemas/messages.ts";

const bound = z.int().check(z.minimum(0));

export const threadSchema = z
  .object({
    id: z.string().apply(described, "That of its first message"),
    seq: count.apply(described, "That of its first message"),
    first: z.exactOptional(messageSchema).apply(described, "Its first message; absent if the room has dropped it"),
    last: z.exactOptional(messageSchema).apply(described, "Its newest reply; absent if there is none"),
    replies: count.apply(described, "Replies that are kept and not deleted"),
    people: z
      .array(z.string())
      .apply(described, "The ids of those who replied last, three at most, the last one first"),
    following: z.boolean().apply(described, "Whether the user takes part in it, or follows it"),
    unread: count.apply(described, "Replies of others that the user has not seen; 0 without `following`"),
    seenSeq: count.apply(described, "How far the user has seen it: `seq` of a reply"),
  })
  .apply(named, "Thread");

/** A message with replies, as one user finds it. */
export type Thread = Sent<typeof threadSchema>;

/** In tokens, besides what the messages of a page cost. */
const THREADS_COST = 5;
/** Each message of a page may be in another batch. */
const MESSAGES_PER_TOKEN = 5;
/** Of a thread in a list: the first and the last one. */
const SHOWN_PER_THREAD = 2;

export const THREADS = defineEvent({
  name: "threads",
  schema: z.object({
    from: z.optional(bound),
    to: z.optional(bound),
    before: z.optional(bound),
    limit: limitOf({ byDefault: THREADS_LIMIT_DEFAULT, max: THREADS_LIMIT_MAX }),
  }),
  good: z.object({
    threads: z.array(threadSchema).apply(described, "The one with the newest reply first"),
    unread: count.apply(described, "Threads of the user with unread replies, those of other pages among them"),
    hasMore: z.boolean(),
  }),
  cost: ({ limit }) => THREADS_COST + Math.ceil((limit * SHOWN_PER_THREAD) / MESSAGES_PER_TOKEN),
  by: "everyone",
  examples: [{}, { from: 1, to: 5 }],
});

/**
 * Without `from` and `to`: the threads that the user takes part in or follows. With one of them, all whose first messages have these seqs,
 * both included. `before`: only those whose newest reply has a lower `seq`.
 */
export type ThreadsPayload = Given<typeof THREADS.schema>;
export type ThreadsAnswer = AnswerOf<typeof THREADS>;

export const THREAD = defineEvent({
  name: "thread",
  schema: z.object({
    id,
    before: z.optional(bound),
    limit: limitOf({ byDefault: REPLIES_LIMIT_DEFAULT, max: REPLIES_LIMIT_MAX }),
  }),
  good: z.object({
    thread: threadSchema,
    messages: z.array(messageSchema).apply(described, "Its replies, ascending by seq, the newest without `before`"),
    hasMore: z.boolean().apply(described, "Whether it has earlier ones"),
  }),
  cost: ({ limit }) => THREADS_COST + Math.ceil(limit / MESSAGES_PER_TOKEN),
  by: "everyone",
  examples: [{ id: "e-1" }],
});

/** `id`: of any message of the thread. `before`: of `seq`, exclusive. */
export type ThreadPayload = Given<typeof THREAD.schema>;
export type ThreadAnswer = AnswerOf<typeof THREAD>;

/** For the devices of one user. */
export interface ThreadSeen extends Pick<Thread, "id" | "seenSeq" | "following"> {}

export const READ_THREAD = defineEvent({
  name: "read-thread",
  schema: z.object({ id, seq: bound }),
  by: "everyone",
  emits: { "thread-seen": emitted<ThreadSeen>() },
  examples: [{ id: "e-1", seq: 1 }],
});

export const FOLLOW_THREAD = defineEvent({
  name: "follow-thread",
  schema: z.object({ id, on: z.boolean() }),
  cost: 5,
  by: "everyone",
  examples: [{ id: "e-1", on: true }],
});

export const THREAD_EVENTS = [THREADS, THREAD, READ_THREAD, FOLLOW_THREAD] as const;
