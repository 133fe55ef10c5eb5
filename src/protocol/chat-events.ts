// The vocabulary of a chat room: events, messages and notices as they travel.
// Shared by the chat core, the client and the tests; the rules are in src/chat/SPEC.md.
import type { AnnouncementEvents } from "./announcement-events.ts";
import type { ChangesClientEvents, ChangesServerEvents, ChangesWelcome, ReactionSummary } from "./changes-events.ts";
import type { DirectClientEvents } from "./direct-events.ts";
import type { Attachment, FilesWelcome } from "./files-events.ts";
import type { ModerationClientEvents, ModerationServerEvents, ModerationWelcome } from "./moderation-events.ts";
import type { ReadingClientEvents, ReadingServerEvents, ReadingWelcome } from "./reading-events.ts";
import type { SearchClientEvents } from "./search-events.ts";
import type { TypingClientEvents, TypingServerEvents, TypingWelcome } from "./typing-events.ts";

/** One message of a room. `seq` rises by exactly 1 per message; `timestamp` is in milliseconds since 1970 (UTC). */
export interface Message {
  /** Opaque, unique everywhere. */
  readonly id: string;
  readonly seq: number;
  readonly room: string;
  /** The user id of the author. */
  readonly sender: string;
  /** The author's display name when the message was posted. */
  readonly name: string;
  readonly content: string;
  readonly timestamp: number;
  readonly clientMsgId?: string;
  /** The `id` of the message that this one answers. */
  readonly replyTo?: string;
  /** When it was last edited, in milliseconds since 1970. */
  readonly editedAt?: number;
  /** The user id of who edited it last, where that is not the author. */
  readonly editedBy?: string;
  /** Nothing but its place is left of it: `content` is empty. */
  readonly deleted?: true;
  /** The user id of who deleted it, where that is not the author. */
  readonly deletedBy?: string;
  /** In the order in which the emoji came. */
  readonly reactions?: readonly ReactionSummary[];
  /** User ids that its content speaks to as `@user`. */
  readonly mentions?: readonly string[];
  readonly attachment?: Attachment;
  /** Of a mirrored message: where it began. */
  readonly origin?: Origin;
}

/** A place in a room. */
export interface Origin {
  readonly room: string;
  readonly seq: number;
}

/** A person present in a room; several tabs are one member. */
export interface Member {
  readonly user: string;
  readonly name: string;
  /** Open connections; 0 of somebody who went a moment ago and may be back before anybody is told. */
  readonly connections: number;
  /** Since when the member is here, in milliseconds since 1970; a reload does not end that. */
  readonly since: number;
  /** What the member may do here, where that is not what a plain member may (PRES-7). */
  readonly role?: Role;
  /** Whether the room itself gave that role, so that `revoke` takes it back. */
  readonly granted?: true;
}

export interface PresencePayload {
  /** Only members whose name or id has this in it; at most 64 characters (PRES-6). */
  readonly find?: string;
}

export interface PostPayload {
  /** May be empty beside an attachment. */
  readonly content: string;
  /** At most 64 characters; makes sending again safe. */
  readonly clientMsgId?: string;
  readonly replyTo?: string;
  /** What an upload was answered with, unchanged. */
  readonly attachment?: Attachment;
}

/** At most one of these bounds, all of them exclusive; without any the newest messages are meant. */
export interface HistoryPayload {
  /** Of `seq`. */
  readonly before?: number;
  readonly after?: number;
  /** A `seq` that is to stand in the middle. */
  readonly around?: number;
  /** Of `timestamp`, in milliseconds since 1970. */
  readonly beforeTime?: number;
  readonly afterTime?: number;
  readonly limit?: number;
}

export interface ErrorAnswer {
  readonly error: { readonly code: AnswerCode; readonly message: string; readonly retryAfterMs?: number };
}

export type Answer<Good extends object> = ({ readonly ok: true } & Good) | ErrorAnswer;

export type PostAnswer = Answer<{
  readonly id: string;
  readonly seq: number;
  readonly timestamp: number;
  readonly duplicate?: true;
}>;
/**
 * `hasMore`: whether there are more in the direction of the question; older ones where it was about `around`, and
 * `hasMoreAfter` tells of newer ones.
 */
export type HistoryAnswer = Answer<{
  readonly messages: readonly Message[];
  readonly hasMore: boolean;
  readonly hasMoreAfter?: boolean;
}>;
/** In a large room `members` holds fewer than `count`: those who have been here longest. */
export type PresenceAnswer = Answer<{ readonly count: number; readonly members: readonly Member[] }>;
export type RefreshAnswer = Answer<{ readonly exp: number | null }>;

/** What a client may send. Arguments are untrusted until a schema has seen them. */
export interface ClientToServerEvents
  extends
    ChangesClientEvents,
    DirectClientEvents,
    ModerationClientEvents,
    ReadingClientEvents,
    SearchClientEvents,
    TypingClientEvents {
  "chat-message": (payload: PostPayload, ack?: (answer: PostAnswer) => void) => void;
  history: (payload: HistoryPayload, ack?: (answer: HistoryAnswer) => void) => void;
  presence: (payload: PresencePayload, ack?: (answer: PresenceAnswer) => void) => void;
  "refresh-token": (payload: { readonly token: string }, ack?: (answer: RefreshAnswer) => void) => void;
}

/** The first event after CONNECT: where the client is, and the limits it lives under. */
export interface Welcome extends ChangesWelcome, FilesWelcome, ReadingWelcome, TypingWelcome {
  readonly room: string;
  readonly user: string;
  readonly name: string;
  /** What counts in this room: the token's, or the one that the room gave. */
  readonly role: Role;
  /** Names the room's log: another one than before means that the room was deleted, and `seq` begins anew. */
  readonly epoch: string;
  /** The newest message's id; absent where the room has none. Another one at the same `seq` means that a backup was restored. */
  readonly lastId?: string;
  /** The `seq` of the newest message, 0 in an empty room. */
  readonly lastSeq: number;
  /** What time it is in the room, in milliseconds since 1970: clocks of clients are off. */
  readonly now: number;
  readonly presence: { readonly count: number };
  readonly settings: {
    readonly maxContentLength: number;
    /** `relaxed`: a busy room may show a message before it is stored. */
    readonly durability: "strict" | "relaxed";
    /** Messages per second and user, and how many may come at once. */
    readonly messageRate: number;
    readonly messageBurst: number;
    /** How long one's own messages may be edited; 0 is never. */
    readonly editWindowSeconds: number;
  };
  readonly moderation: ModerationWelcome;
}

/** A room as those see it who are not in it. */
export interface RoomOverview {
  readonly room: string;
  /** People, not connections. */
  readonly members: number;
  /** The `seq` of the newest message, 0 in an empty room. */
  readonly lastSeq: number;
  /** When the newest message was posted, in milliseconds since 1970; `null` in an empty room. */
  readonly lastActivity: number | null;
}

/** In a large room only the count is told, and both lists stay empty. */
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

/** What the room sends. `error` answers an event that carried no ack callback. */
export interface ServerToClientEvents
  extends AnnouncementEvents, ChangesServerEvents, ModerationServerEvents, ReadingServerEvents, TypingServerEvents {
  welcome: (welcome: Welcome) => void;
  "chat-message": (message: Message) => void;
  presence: (change: PresenceChange) => void;
  notice: (notice: Notice) => void;
  error: (error: ErrorAnswer["error"]) => void;
}

export type Role = "member" | "moderator" | "reader" | "service";

export type NoticeCode =
  | "TOKEN_EXPIRING"
  | "TOKEN_EXPIRED"
  | "KICKED"
  | "BANNED"
  | "RATE_LIMITED"
  | "SERVER_SHUTDOWN"
  | "ROOM_DELETED";

/** Why an event was not carried out; the table in src/chat/SPEC.md says which of them a retry helps. */
export type AnswerCode =
  | "INVALID_PAYLOAD"
  | "TOO_LONG"
  | "RATE_LIMITED"
  | "MUTED"
  | "SLOW_MODE"
  | "ROOM_READ_ONLY"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "UNKNOWN_EVENT"
  | "UNAUTHORIZED"
  | "TOKEN_EXPIRED"
  | "UNAVAILABLE"
  | "INTERNAL";

/** Why a CONNECT was refused: `data.code` of the CONNECT_ERROR. */
export type RefusalCode =
  | "UNAUTHORIZED"
  | "TOKEN_EXPIRED"
  | "FORBIDDEN"
  | "FORBIDDEN_ROOM"
  | "BANNED"
  | "ROOM_FULL"
  | "RATE_LIMITED"
  | "TOO_MANY_CONNECTIONS"
  | "UNAVAILABLE";
