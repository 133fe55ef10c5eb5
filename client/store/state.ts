// The state of a room as applications draw it. All of it is immutable: a part is the same object until something in it changes, so
// that a component can watch one part. room-parts.ts makes it.
import type {
  Attachment,
  Member,
  Message,
  ModerationChange,
  NotShown,
  Role,
  RoomModes,
  Thread,
  Typist,
  Welcome,
} from "../../src/protocol/chat-events.ts";
import type { Connection, Draft, SendFailure } from "../core/api.ts";
import type { FeatureEvents } from "../core/feature-events.ts";

/** @typeParam Own the events of features that the room has besides those of the chat */
export interface RoomState<Own extends FeatureEvents = FeatureEvents> {
  readonly connection: Connection;
  /** The newest welcome, with the room's settings; `undefined` before the first one. */
  readonly welcome: (Welcome & Own["welcome"]) | undefined;
  readonly me: Me;
  readonly modes: RoomModes;
  readonly messages: MessagesState;
  readonly presence: PresenceState;
  /** Others who type, in the order in which they began. */
  readonly typing: readonly Typist[];
  /** In a large room, in place of `typing`: how many others type. */
  readonly typingCount: number;
  readonly reading: ReadingState;
  /** How far others have read: `seq` by user. In a large room only one's own. */
  readonly readMarks: ReadonlyMap<string, number>;
  /** Names by user: members, and former members whose messages are loaded. */
  readonly names: ReadonlyMap<string, string>;
  readonly uploads: readonly Upload[];
  /** The newest action of a moderator. */
  readonly moderation: ModerationChange | undefined;
  /** The newest failure of something that no caller waits for. */
  readonly problem: Problem | undefined;
}

export interface Me {
  /** Empty before the first welcome, as is `name`. */
  readonly user: string;
  readonly name: string;
  /** The role that counts in this room, as its newest welcome, grant or revocation says. */
  readonly role: Role;
  readonly isModerator: boolean;
  /** Why nothing can be written here. */
  readonly blocked: Blocked | undefined;
  /** Why the next message has to wait, or is refused, for some time. */
  readonly hold: Hold | undefined;
  /** Whether the room takes files; `true` before the welcome. */
  readonly canAttach: boolean;
}

/** `READER`: by one's role. `ROOM_READ_ONLY`: moderators alone may write. The others: the end of the connection. */
export type Blocked = "READER" | "ROOM_READ_ONLY" | "KICKED" | "BANNED" | "FORBIDDEN_ROOM" | "ROOM_DELETED";

export interface Hold {
  /** `MUTED`, `SLOW_MODE` or `RATE_LIMITED`. */
  readonly code: string;
  /** In the room's time, which `now()` of the store tells; `Infinity` where no end is known. */
  readonly untilMs: number;
}

export interface MessagesState {
  /** Ascending by `seq`, none left out between the first and the last but for those of `notShown`. */
  readonly stored: readonly Message[];
  /** In the order in which they were written. */
  readonly outgoing: readonly Outgoing[];
  /** Whether the room has messages before the first one here. */
  readonly hasEarlier: boolean;
  /** Whether the room has messages after the last one here: new ones are held back then. */
  readonly hasLater: boolean;
  /**
   * Between them: messages that the room stored and did not show to a crowd, ascending and without those that are loaded. `loadNotShown` of the
   * store fetches them.
   */
  readonly notShown: readonly NotShown[];
  /** Whether a first page of history has arrived. */
  readonly isLoaded: boolean;
  /** Whether the first request for it is under way: messages that arrive before it have no place yet. */
  readonly isOpening: boolean;
  readonly loading: "earlier" | "later" | undefined;
}

/**
 * A message that the room has not confirmed. `queued`: it waits for the connection, for its turn, or for the end of a hold. `error`:
 * why it failed, or was put off last.
 */
export interface Outgoing extends Draft {
  readonly state: "queued" | "sending" | "failed";
  readonly error?: SendFailure;
  /** When this store first saw it, in the room's time. */
  readonly timestamp: number;
}

/** The actions that the user may take on one message. */
export interface Abilities {
  readonly reply: boolean;
  readonly react: boolean;
  readonly edit: boolean;
  readonly remove: boolean;
  readonly moderate: boolean;
}

export type Person = Pick<Member, "user" | "name" | "role" | "granted">;

export interface PresenceState {
  /** As the room counts; it may be more than it has listed. */
  readonly count: number;
  /** Sorted by name. */
  readonly members: readonly Person[];
  /** Whether `members` has all members of the room. */
  readonly isComplete: boolean;
}

export interface ReadingState {
  /** How far the user has read, on any device. */
  readonly readSeq: number;
  /** Whether the user marked messages as unread, here or on another device: `markRead` has no effect until they read on. */
  readonly keptUnread: boolean;
  /** The newest message of the room; `unreadOf` counts those in between. */
  readonly lastSeq: number;
  /** Whether the user looks at the newest messages (`follow`). */
  readonly following: boolean;
  /** Messages of others that came while the user looked elsewhere. */
  readonly missed: number;
  /** Messages after this `seq` were new when the user entered the room, or came back to it. */
  readonly unreadAfter: number | undefined;
  /** Those messages, until the user has been at their end. */
  readonly news: { readonly count: number; readonly sinceMs: number } | undefined;
  /** The message that the user jumped to last, or the first unread one; another object each time. */
  readonly target: { readonly seq: number; readonly isUnread?: boolean } | undefined;
}

/** A thread as the user finds it: a message with its replies. */
export interface ThreadState {
  /** Its counts and the user's place in it; `undefined` until it is loaded. */
  readonly thread?: Thread | undefined;
  /** Its first message; absent if the room has dropped it. */
  readonly first?: Message | undefined;
  /** Ascending by `seq`, none left out after the first one here; without deleted ones. */
  readonly replies: readonly Message[];
  /** Whether it has replies before the first one here. */
  readonly hasEarlier: boolean;
  readonly isLoading: boolean;
  /** Why it could not be loaded. */
  readonly problem?: SendFailure | undefined;
}

/** The threads in which the user takes part, or which they follow: the 50 with the newest replies. */
export interface OwnThreads {
  /** The one with the newest reply first. */
  readonly threads: readonly Thread[];
  /** How many of them have unread replies. */
  readonly unread: number;
  readonly problem?: SendFailure | undefined;
}

/** A file on its way to the room, or there: `attachment` is for `send` then. */
export interface Upload {
  readonly id: number;
  readonly file: File;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly state: "uploading" | "done" | "failed";
  /** From 0 to 1. */
  readonly progress: number;
  /** The small picture of it that was made, if there is one. */
  readonly preview?: Blob;
  readonly attachment?: Attachment;
  readonly error?: SendFailure;
}

/** Another object each time. */
export interface Problem extends SendFailure {
  /** `room`: the room's event `error`. */
  readonly what: "history" | "members" | "jump" | "room";
}
