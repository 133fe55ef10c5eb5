// The events about messages: posting, history, edits, deletions, reactions. Their handlers: src/chat/posting and src/chat/messages.
import * as z from "zod/mini";

import {
  CLIENT_MSG_ID_LENGTH_MAX,
  EMOJI_LENGTH_MAX,
  HISTORY_LIMIT_DEFAULT,
  HISTORY_LIMIT_MAX,
  MESSAGE_FILES_MAX,
} from "../limits.ts";
import { canonicalEmoji } from "../text/characters.ts";
import { defineEvent, emitted, type AnswerOf } from "../event.ts";
import { described, named } from "../schemas/described.ts";
import { atMs, content, count, limitOf, messageId, messageId as id, type Given, type Sent } from "../schemas/fields.ts";
import { attachmentSchema } from "../schemas/files.ts";
import { messageSchema, reactionsSchema, type Message } from "../schemas/messages.ts";

const limit = limitOf({ byDefault: HISTORY_LIMIT_DEFAULT, max: HISTORY_LIMIT_MAX });
const bound = z.int().check(z.minimum(0));
const cut = (what: string) => z.exactOptional(z.literal(true)).apply(described, what);

/** The fields of every change of a message. */
interface ChangeEvent {
  readonly id: string;
  readonly seq: number;
  /** A client that heard this knows all changes up to here. */
  readonly rev: number;
}

// ---- posting -----------------------------------------------------------------------------------------------

export const CHAT_MESSAGE = defineEvent({
  name: "chat-message",
  schema: z.object({
    content,
    clientMsgId: z.optional(z.string().check(z.minLength(1), z.maxLength(CLIENT_MSG_ID_LENGTH_MAX))),
    replyTo: z.optional(messageId),
    attachment: z.optional(attachmentSchema),
    attachments: z.optional(z.array(attachmentSchema).check(z.minLength(1), z.maxLength(MESSAGE_FILES_MAX))),
  }),
  good: z.object({
    id: z.string(),
    seq: count,
    timestamp: atMs("When it was posted"),
    duplicate: z.exactOptional(z.literal(true)).apply(described, "The message had been stored before"),
  }),
  // It has a bucket of its own.
  cost: 0,
  by: "speakers",
  verb: "post",
  emits: { "chat-message": emitted<Message>() },
  examples: [{ content: "hello" }, { content: "again", clientMsgId: "1" }],
});

/** `clientMsgId` makes sending again safe. */
export type PostPayload = Given<typeof CHAT_MESSAGE.schema>;
export type PostAnswer = AnswerOf<typeof CHAT_MESSAGE>;

// ---- reading -----------------------------------------------------------------------------------------------

const bounds = {
  before: z.optional(bound),
  after: z.optional(bound),
  around: z.optional(bound),
  beforeTime: z.optional(bound),
  afterTime: z.optional(bound),
};

type Bounds = { readonly [Name in keyof typeof bounds]?: unknown };

/** The check of a request for history. */
export const oneBound = z.refine<Bounds>(
  (given) => Object.keys(bounds).filter((name) => given[name as keyof Bounds] !== undefined).length <= 1,
  "give one of before, after, around, beforeTime and afterTime, not several",
);

/** A page of history takes one token for each so many messages. */
export const HISTORY_PER_TOKEN = 20;
/** And so many more if its place has to be searched by time. */
export const HISTORY_TIME_COST = 5;

export const HISTORY = defineEvent({
  name: "history",
  schema: z.object({ ...bounds, limit }).check(oneBound),
  good: z.object({
    messages: z.array(messageSchema).apply(described, "Ascending by seq"),
    hasMore: z.boolean().apply(described, "Whether there are more in that direction"),
    hasMoreAfter: z.exactOptional(z.boolean()).apply(described, "Whether there are newer ones, with `around`"),
  }),
  cost: ({ limit, beforeTime, afterTime }) => {
    const isSearched = beforeTime !== undefined || afterTime !== undefined;
    return Math.ceil(limit / HISTORY_PER_TOKEN) + (isSearched ? HISTORY_TIME_COST : 0);
  },
  by: "everyone",
  examples: [{}, { before: 5, limit: 3 }],
});

/**
 * At most one of these bounds, all of them exclusive; without any the newest messages. `before` and `after` are of `seq`,
 * `beforeTime` and `afterTime` of `timestamp`; `around` is the `seq` in the middle.
 */
export type HistoryPayload = Given<typeof HISTORY.schema>;
/**
 * `hasMore`: whether there are more in the direction of the question; older ones where it was about `around`, and
 * `hasMoreAfter` tells of newer ones.
 */
export type HistoryAnswer = AnswerOf<typeof HISTORY>;

/** Names a message by its `id`. */
const whichMessage = z.object({ id });
export type MessagePayload = Given<typeof whichMessage>;

export const GET_MESSAGE = defineEvent({
  name: "get-message",
  schema: whichMessage,
  good: z.object({ message: messageSchema }),
  by: "everyone",
  examples: [{ id: "e-1" }],
});

/** As it stands now. */
export type MessageAnswer = AnswerOf<typeof GET_MESSAGE>;

/** Cost of a page in tokens: it looks at every change, … */
export const CHANGES_COST = 10;
/** … and one more for so many messages, each of which may be in another batch. */
export const CHANGES_PER_TOKEN = 5;

export const CHANGES = defineEvent({
  name: "changes",
  schema: z.object({ after: bound, limit }),
  good: z.object({ messages: z.array(messageSchema), rev: count, hasMore: z.boolean() }),
  cost: ({ limit }) => CHANGES_COST + Math.ceil(limit / CHANGES_PER_TOKEN),
  by: "everyone",
  examples: [{ after: 0 }],
});

/** `after`: the newest `rev` that the client knows. */
export type ChangesPayload = Given<typeof CHANGES.schema>;
/** Messages that changed, as they stand now, in the order of their last changes. `rev`: where to go on. */
export type ChangesAnswer = AnswerOf<typeof CHANGES>;

// ---- edits and deletions -----------------------------------------------------------------------------------

export interface MessageEdited extends ChangeEvent {
  readonly content: string;
  readonly editedAt: number;
  /** The id of the user who edited it. */
  readonly by: string;
  readonly mentions?: readonly string[];
}

export const EDIT_MESSAGE = defineEvent({
  name: "edit-message",
  schema: z.object({ id, content }),
  good: z.object({ editedAt: atMs("When it was edited") }),
  // About as much as the message bucket lets people post.
  cost: 20,
  by: "speakers",
  verb: "change messages",
  emits: { "message-edited": emitted<MessageEdited>() },
  examples: [{ id: "e-1", content: "better" }],
});

export type EditPayload = Given<typeof EDIT_MESSAGE.schema>;
export type EditAnswer = AnswerOf<typeof EDIT_MESSAGE>;

export interface MessageDeleted extends ChangeEvent {
  /** The id of the user who deleted it. */
  readonly by: string;
}

/** Muted users may delete their own messages, also in a read-only room. */
export const DELETE_MESSAGE = defineEvent({
  name: "delete-message",
  schema: whichMessage,
  cost: 5,
  by: "members",
  verb: "change messages",
  emits: { "message-deleted": emitted<MessageDeleted>() },
  examples: [{ id: "e-1" }],
});

export const versionSchema = z
  .object({
    content: z.string(),
    timestamp: atMs("From when on it said so"),
    by: z.string().apply(described, "The user id of who wrote it"),
  })
  .apply(named, "Version");

/** One of the contents that a message has had. */
export type Version = Sent<typeof versionSchema>;

export const VERSIONS = defineEvent({
  name: "versions",
  schema: whichMessage,
  good: z.object({
    versions: z.array(versionSchema).apply(described, "The oldest first, the present one last"),
    hasMore: cut("Older ones do not fit in the answer"),
  }),
  cost: 5,
  by: "moderators",
  verb: "see earlier versions",
  examples: [{ id: "e-1" }],
});

/** The oldest first, the present one last; none of a deleted message. `hasMore`: older ones do not fit in the answer. */
export type VersionsAnswer = AnswerOf<typeof VERSIONS>;

// ---- reactions ---------------------------------------------------------------------------------------------

/** One emoji as Unicode's UTS 51 calls a possible one, so that those of its later versions pass, or the name of one that the client draws. */
const EMOJI =
  /^([\w:+-]+|(\p{RI}{2}|[0-9#*]\uFE0F?\u20E3|\p{ExtPict}[\uFE0E\uFE0F]?\p{EMod}?([\u{E0020}-\u{E007E}]+\u{E007F})?)(\u200D\p{ExtPict}[\uFE0E\uFE0F]?\p{EMod}?)*)$/u;

const EMOJI_WANTED = "must be one emoji, or a name such as :party:";

const emoji = z.string().check(
  z.overwrite(canonicalEmoji),
  z.minLength(1),
  z.maxLength(EMOJI_LENGTH_MAX),
  // As much as every language's expressions can say: this one stands in the HTTP API's document.
  // oxlint-disable-next-line no-control-regex -- control characters are what it keeps out
  z.regex(/^[^\x00-\x20]+$/, EMOJI_WANTED),
  z.refine((text) => EMOJI.test(text), EMOJI_WANTED),
);

export interface Reaction extends ChangeEvent {
  readonly emoji: string;
  readonly user: string;
  readonly on: boolean;
  /** Users who have set this emoji, after the change. */
  readonly count: number;
}

export const REACT = defineEvent({
  name: "react",
  schema: z.object({ id, emoji, on: z.boolean() }),
  cost: 5,
  by: "speakers",
  verb: "react",
  emits: { reaction: emitted<Reaction>() },
  examples: [{ id: "e-1", emoji: "👍", on: true }],
});

/** `on`: the reaction is set; otherwise it is taken back. */
export type ReactPayload = Given<typeof REACT.schema>;

export const REACTIONS = defineEvent({
  name: "reactions",
  schema: whichMessage,
  good: z.object({ reactions: reactionsSchema, hasMore: cut("Not all users fit in the answer") }),
  cost: 5,
  by: "everyone",
  examples: [{ id: "e-1" }],
});

/** With all users. `hasMore`: not all of them fit in the answer. */
export type ReactionsAnswer = AnswerOf<typeof REACTIONS>;

export const MESSAGE_EVENTS = [
  CHAT_MESSAGE,
  HISTORY,
  GET_MESSAGE,
  CHANGES,
  EDIT_MESSAGE,
  DELETE_MESSAGE,
  VERSIONS,
  REACT,
  REACTIONS,
] as const;
