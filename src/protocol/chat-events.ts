// The vocabulary of a chat room: its events, and the types of their payloads and answers. Used by room, Worker, client and tests. Types of
// checked input and of answers that the HTTP API describes derive from schemas/; broadcasts are interfaces here. Rules: src/chat/SPEC.md.
import type { AttendPayload } from "./schemas/attending.ts";
import type { ChangesPayload, EditPayload, MessagePayload, ReactPayload, Version } from "./schemas/changes.ts";
import type { AnswerCode, NoticeCode } from "./failures.ts";
import type { Sent } from "./schemas/fields.ts";
import type {
  HistoryPayload,
  Message,
  pageSchema,
  postedSchema,
  PostPayload,
  ReactionSummary,
} from "./schemas/messages.ts";
import type {
  ActionPayload,
  auditPageSchema,
  AuditPayload,
  moderationPageSchema,
  ModerationAction,
  ModerationChange,
  ModerationStatePayload,
  RoomModes,
} from "./schemas/moderation.ts";
import type { Member, PresencePayload, Role } from "./schemas/presence.ts";
import type { ReadPayload } from "./schemas/reading.ts";
import type { foundSchema, SearchPayload } from "./schemas/search.ts";
import type { RefreshPayload } from "./schemas/tokens.ts";
import type { TypingPayload } from "./schemas/typing.ts";

export type { AnswerCode, NoticeCode, RefusalCode } from "./failures.ts";
export type * from "./schemas/attending.ts";
export type * from "./schemas/changes.ts";
export type * from "./schemas/files.ts";
export type * from "./schemas/messages.ts";
export type * from "./schemas/moderation.ts";
export type * from "./schemas/presence.ts";
export type * from "./schemas/search.ts";
export type { ReadPayload } from "./schemas/reading.ts";
export type { RefreshPayload } from "./schemas/tokens.ts";
export type { TypingPayload } from "./schemas/typing.ts";

export interface ErrorAnswer {
  readonly error: { readonly code: AnswerCode; readonly message: string; readonly retryAfterMs?: number };
}

export type Answer<Good extends object> = ({ readonly ok: true } & Good) | ErrorAnswer;

export type PostAnswer = Answer<Sent<typeof postedSchema>>;
/**
 * `hasMore`: whether there are more in the direction of the question; older ones where it was about `around`, and
 * `hasMoreAfter` tells of newer ones.
 */
export type HistoryAnswer = Answer<Sent<typeof pageSchema>>;
/** In a large room `members` holds fewer than `count`: those who have been here longest. */
export type PresenceAnswer = Answer<{ readonly count: number; readonly members: readonly Member[] }>;
export type RefreshAnswer = Answer<{ readonly exp: number | null }>;
/** As it stands now. */
export type MessageAnswer = Answer<{ readonly message: Message }>;
export type EditAnswer = Answer<{ readonly editedAt: number }>;
/** The oldest first, the present one last; none of a deleted message. `hasMore`: older ones do not fit in the answer. */
export type VersionsAnswer = Answer<{ readonly versions: readonly Version[]; readonly hasMore?: true }>;
/** With all users. `hasMore`: not all of them fit in the answer. */
export type ReactionsAnswer = Answer<{ readonly reactions: readonly ReactionSummary[]; readonly hasMore?: true }>;
/** Messages that changed, as they stand now, in the order of their last changes. `rev`: where to go on. */
export type ChangesAnswer = Answer<{
  readonly messages: readonly Message[];
  readonly rev: number;
  readonly hasMore: boolean;
}>;
/** The furthest first; clipped where there are many. */
export type ReadMarksAnswer = Answer<{ readonly marks: readonly ReadMark[] }>;
/**
 * Newest first. `hasMore`: there are older messages that have not been looked at; asking again with `before` goes on with
 * them, and may find none. Only then a page may hold fewer than `limit`.
 */
export type SearchAnswer = Answer<Sent<typeof foundSchema>>;
export type AuditAnswer = Answer<Sent<typeof auditPageSchema>>;
export type ModerationStateAnswer = Answer<Sent<typeof moderationPageSchema>>;
/** `lastSeq`: the newest message; those behind it will be heard. */
export type AttendAnswer = Answer<{ readonly lastSeq: number }>;
export type OpenDirectAnswer = Answer<{ readonly room: string; readonly isNew: boolean }>;

type Ask<Payload, Good extends Answer<object> = Answer<object>> = (
  payload: Payload,
  ack?: (answer: Good) => void,
) => void;

type ModerationActions = { readonly [Action in ModerationAction]: Ask<ActionPayload<Action>> };

/** Events for moderators alone: others get FORBIDDEN. */
interface ModeratorEvents extends ModerationActions {
  versions: Ask<MessagePayload, VersionsAnswer>;
  audit: Ask<AuditPayload, AuditAnswer>;
  "moderation-state": Ask<ModerationStatePayload, ModerationStateAnswer>;
}

export type ModeratorEvent = keyof ModeratorEvents;

/** Events that a client may send. Arguments are untrusted until a schema has checked them. */
export interface ClientToServerEvents extends ModeratorEvents {
  "chat-message": Ask<PostPayload, PostAnswer>;
  history: Ask<HistoryPayload, HistoryAnswer>;
  presence: Ask<PresencePayload, PresenceAnswer>;
  "refresh-token": Ask<RefreshPayload, RefreshAnswer>;
  "get-message": Ask<MessagePayload, MessageAnswer>;
  "edit-message": Ask<EditPayload, EditAnswer>;
  "delete-message": Ask<MessagePayload>;
  react: Ask<ReactPayload>;
  reactions: Ask<MessagePayload, ReactionsAnswer>;
  changes: Ask<ChangesPayload, ChangesAnswer>;
  read: Ask<ReadPayload>;
  "read-marks": Ask<Record<string, never>, ReadMarksAnswer>;
  typing: Ask<TypingPayload>;
  /** With `counts` a connection gets `counts` in place of messages and what happens to them, until it attends to `all` again. */
  attend: Ask<AttendPayload, AttendAnswer>;
  search: Ask<SearchPayload, SearchAnswer>;
  /** Between oneself and that user; `room` is to be connected to like any other. */
  "open-dm": Ask<{ readonly user: string }, OpenDirectAnswer>;
}

/** The answer of the room to an event. */
export type AnswerTo<Event extends keyof ClientToServerEvents> = Parameters<
  NonNullable<Parameters<ClientToServerEvents[Event]>[1]>
>[0];

/** The fields of every change of a message. */
interface ChangeEvent {
  readonly id: string;
  readonly seq: number;
  /** A client that heard this knows all changes up to here. */
  readonly rev: number;
}

export interface MessageEdited extends ChangeEvent {
  readonly content: string;
  readonly editedAt: number;
  /** The id of the user who edited it. */
  readonly by: string;
  readonly mentions?: readonly string[];
}

export interface MessageDeleted extends ChangeEvent {
  /** The id of the user who deleted it. */
  readonly by: string;
}

export interface Reaction extends ChangeEvent {
  readonly emoji: string;
  readonly user: string;
  readonly on: boolean;
  /** Users who have set this emoji, after the change. */
  readonly count: number;
}

/** The newest message that a user has read. */
export interface ReadMark {
  readonly user: string;
  readonly seq: number;
}

export interface Typist {
  readonly user: string;
  readonly name: string;
}

export interface TypingChange extends Typist {
  readonly on: boolean;
}

/** A large room sends it in place of names. */
export interface TypingCount {
  /** Members who type, the recipient among them. */
  readonly count: number;
}

/** Messages `from` to `to`, both included, that were stored and not shown: `history` has them. */
export interface NotShown {
  readonly from: number;
  readonly to: number;
}

/** For connections that attend to counts. */
export interface Counts {
  /** The `seq` of the newest message. */
  readonly lastSeq: number;
}

/** In a large room only the count is sent, and both lists stay empty. */
export interface PresenceChange {
  readonly count: number;
  readonly joined: ReadonlyArray<Pick<Member, "user" | "name" | "role" | "granted">>;
  readonly left: ReadonlyArray<{ readonly user: string }>;
}

export interface Notice {
  readonly code: NoticeCode;
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** Events that the room sends. `error` answers an event that carried no ack callback. */
export interface ServerToClientEvents {
  welcome: (welcome: Welcome) => void;
  "chat-message": (message: Message) => void;
  "message-edited": (edited: MessageEdited) => void;
  "message-deleted": (deleted: MessageDeleted) => void;
  reaction: (reaction: Reaction) => void;
  presence: (change: PresenceChange) => void;
  read: (mark: ReadMark) => void;
  typing: (change: TypingChange) => void;
  "typing-count": (typing: TypingCount) => void;
  "not-shown": (messages: NotShown) => void;
  counts: (counts: Counts) => void;
  moderation: (change: ModerationChange) => void;
  notice: (notice: Notice) => void;
  error: (error: ErrorAnswer["error"]) => void;
  /** To everybody in many rooms, or to some people wherever they are; `id` is the same where it comes twice (ANN-1). */
  announcement: (announcement: { readonly id: string; readonly data: unknown }) => void;
}

/** The part of `welcome` about changes. */
export interface ChangesWelcome {
  /** Opaque and growing: `changes {after: rev}` lists changes from now on. */
  readonly rev: number;
}

/** The part of `welcome` about uploads. */
export interface FilesWelcome {
  /** Absent where no files are taken. */
  readonly files?: {
    /** Of one file. */
    readonly bytesMax: number;
    /** Media types that are taken: `image/png`, `audio/…` with a star for all of a kind, two stars for any. */
    readonly types: readonly string[];
  };
}

/** The part of `welcome` about the user's own reading. */
export interface ReadingWelcome {
  /** The `seq` up to which the user has read; 0 without a mark. */
  readonly readSeq: number;
  /** Messages after that which the room still keeps, the user's own among them. */
  readonly unread: number;
}

/** The part of `welcome` about rooms between two people. */
export interface DirectWelcome {
  /** The other one, in such a room; `name` is the newest by which the room knows them. */
  readonly direct?: { readonly user: string; readonly name: string };
}

/** The part of `welcome` about typing. */
export interface TypingWelcome {
  /** Others who are typing; the first few of them where there are many. */
  readonly typing: readonly Typist[];
  /** In a large room: members who type, none of whom is named. */
  readonly typingCount?: number;
}

/** The part of `welcome` about moderation. */
export type ModerationWelcome = RoomModes & {
  /** Until when this user may not speak, in milliseconds since 1970. */
  readonly mutedUntil?: number;
};

/** The part of `welcome` that is about no feature: where the client is, and the limits it lives under. */
export interface RoomWelcome {
  readonly room: string;
  readonly user: string;
  readonly name: string;
  /** The role in this room: the token's, or the one that the room gave. */
  readonly role: Role;
  /** Names the room's log: a new name means that the room was deleted, and `seq` starts from 1 again. */
  readonly epoch: string;
  /** The newest message's id; absent where the room has none. Another one at the same `seq` means that a backup was restored. */
  readonly lastId?: string;
  /** The `seq` of the newest message, 0 in an empty room. */
  readonly lastSeq: number;
  /** The time of the room, in milliseconds since 1970: clocks of clients are off. */
  readonly now: number;
  /** Events that are accepted and change nothing, in a part of a big room (SHD-9); absent: none. */
  readonly rests?: ReadonlyArray<"read">;
  readonly settings: {
    readonly maxContentLength: number;
    /** `relaxed`: a busy room may show a message before it is stored. */
    readonly durability: "strict" | "relaxed";
    /** Messages per second and user, and how many may come at once. */
    readonly messageRate: number;
    readonly messageBurst: number;
    /** The time in which authors may edit their messages; 0 is none. */
    readonly editWindowSeconds: number;
    /** A room with more members names nobody who comes, goes or types. */
    readonly crowdMembers: number;
  };
}

/** The first event after CONNECT. Each feature fills its part (Feature.welcome). */
export interface Welcome
  extends RoomWelcome, ChangesWelcome, DirectWelcome, FilesWelcome, ReadingWelcome, TypingWelcome {
  readonly presence: { readonly count: number };
  readonly moderation: ModerationWelcome;
}
