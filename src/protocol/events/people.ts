// The declarations of events about people: presence, typing, read marks, and the connection itself. src/chat/people handles them; in a shard
// src/shards/member-events.ts handles some.
import * as z from "zod/mini";

import { FIND_LENGTH_MAX } from "../limits.ts";
import { defineEvent, emitted, type AnswerOf } from "../event.ts";
import { count, type Given, type Sent } from "../schemas/fields.ts";
import { memberSchema } from "../schemas/presence.ts";

export const PRESENCE = defineEvent({
  name: "presence",
  schema: z.object({
    find: z.optional(
      z
        .string()
        .check(
          z.trim(),
          z.minLength(1, "is empty"),
          z.maxLength(FIND_LENGTH_MAX, `at most ${FIND_LENGTH_MAX} characters`),
        ),
    ),
  }),
  good: z.object({ count, members: z.array(memberSchema) }),
  // With `find` all members are looked through.
  cost: ({ find }) => (find === undefined ? 1 : 5),
  by: "everyone",
  examples: [{}, { find: "ada" }],
});

/** `find`: only members whose name or id has this in it (PRES-6). */
export type PresencePayload = Given<typeof PRESENCE.schema>;
/** `members` holds 200 at most, those of the room itself who have been here longest; `count` is of all (PRES-3, SHD-9). */
export type PresenceAnswer = AnswerOf<typeof PRESENCE>;

export interface Typist {
  readonly user: string;
  readonly name: string;
}

/** Of others only. */
export interface TypingChange extends Typist {
  readonly on: boolean;
}

/** A large room sends it in place of names. */
export interface TypingCount {
  /** Members who type, the recipient among them. */
  readonly count: number;
}

/** A client sends it again every few seconds while its user writes. */
export const TYPING = defineEvent({
  name: "typing",
  schema: z.object({ on: z.boolean() }),
  // Each change goes out to everyone.
  cost: 4,
  by: "speakers",
  verb: "type",
  emits: { typing: emitted<TypingChange>(), "typing-count": emitted<TypingCount>() },
  examples: [{ on: true }, { on: false }],
});

export type TypingPayload = Given<typeof TYPING.schema>;

/** For connections that attend to counts. */
export interface Counts {
  /** The `seq` of the newest message. */
  readonly lastSeq: number;
}

/** With `counts` a connection gets `counts` in place of messages and what happens to them, until it attends to `all` again. */
export const ATTEND = defineEvent({
  name: "attend",
  schema: z.object({ to: z.literal(["all", "counts"]) }),
  good: z.object({ lastSeq: count }),
  by: "everyone",
  emits: { counts: emitted<Counts>() },
  examples: [{ to: "counts" }, { to: "all" }],
});

export type AttendPayload = Given<typeof ATTEND.schema>;
/** `lastSeq`: the newest message; the connection gets all later ones. */
export type AttendAnswer = AnswerOf<typeof ATTEND>;

const markSchema = z.object({ user: z.string(), seq: count });

/** The newest message that a user has read. */
export type ReadMark = Sent<typeof markSchema>;

/** `back`: also where the user had read further; their own connections alone hear of that. */
export interface ReadChange extends ReadMark {
  readonly back?: true;
}

export const READ = defineEvent({
  name: "read",
  schema: z.object({ seq: z.int().check(z.minimum(0)), back: z.optional(z.literal(true)) }),
  // The way back is stored at once, as a post is.
  cost: ({ back }) => (back ? 5 : 1),
  by: "everyone",
  emits: { read: emitted<ReadChange>() },
  examples: [{ seq: 1 }, { seq: 0, back: true }],
});

/** The `seq` of the newest message that the user has seen; with `back` they want to find what comes after it as unread. */
export type ReadPayload = Given<typeof READ.schema>;

export const READ_MARKS = defineEvent({
  name: "read-marks",
  schema: z.object({}),
  good: z.object({ marks: z.array(markSchema) }),
  // It looks at every mark.
  cost: 10,
  by: "everyone",
  examples: [{}],
});

/** The furthest first; clipped where there are many. */
export type ReadMarksAnswer = AnswerOf<typeof READ_MARKS>;

/** Replaces the token of a connection. */
export const REFRESH_TOKEN = defineEvent({
  name: "refresh-token",
  schema: z.object({ token: z.string().check(z.minLength(1)) }),
  good: z.object({ exp: z.nullable(count) }),
  by: "everyone",
  examples: [{ token: "x" }],
});

export type RefreshPayload = Given<typeof REFRESH_TOKEN.schema>;
export type RefreshAnswer = AnswerOf<typeof REFRESH_TOKEN>;

export const PEOPLE_EVENTS = [PRESENCE, TYPING, ATTEND, READ, READ_MARKS, REFRESH_TOKEN] as const;
