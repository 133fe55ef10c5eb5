// The vocabulary of a chat room: the list of its events, which are declared in events/, and what it says by itself. Used by room, Worker, client
// and tests. Types of checked input and of answers derive from schemas; what is broadcast are interfaces. Rules: src/chat/SPEC.md.
import { emitted, type ErrorAnswer, type Heard, type HeardFrom, type SentBy } from "./event.ts";
import { OPEN_DM } from "./events/direct.ts";
import { MESSAGE_EVENTS } from "./events/messages.ts";
import { MODERATION_EVENTS, type RoomModes } from "./events/moderation.ts";
import { PEOPLE_EVENTS, type Typist } from "./events/people.ts";
import { SEARCH } from "./events/search.ts";
import { THREAD_EVENTS } from "./events/threads.ts";
import type { NoticeCode } from "./failures.ts";
import type { Member, Role } from "./schemas/presence.ts";

export type { Answer, Callers, ErrorAnswer } from "./event.ts";
export type { OpenDirectAnswer } from "./events/direct.ts";
export type * from "./events/messages.ts";
export type * from "./events/moderation.ts";
export type * from "./events/people.ts";
export type * from "./events/search.ts";
export type * from "./events/threads.ts";
export type { AnswerCode, NoticeCode, RefusalCode } from "./failures.ts";
export type * from "./schemas/files.ts";
export type * from "./schemas/messages.ts";
export type * from "./schemas/presence.ts";

/** The events that a client may send. Arguments are untrusted until a schema has checked them. */
export const CHAT_EVENTS = [
  ...MESSAGE_EVENTS,
  ...PEOPLE_EVENTS,
  ...MODERATION_EVENTS,
  ...THREAD_EVENTS,
  SEARCH,
  OPEN_DM,
] as const;

export interface ClientToServerEvents extends SentBy<typeof CHAT_EVENTS> {}

/** The answer of the room to an event. */
export type AnswerTo<Event extends keyof ClientToServerEvents> = Parameters<
  NonNullable<Parameters<ClientToServerEvents[Event]>[1]>
>[0];

/** Messages `from` to `to`, both included, that were stored and not shown: `history` has them. */
export interface NotShown {
  readonly from: number;
  readonly to: number;
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

/** What the room says by itself, besides what its events tell. `error` answers an event that carried no ack callback. */
const SENDS = {
  welcome: emitted<Welcome>(),
  presence: emitted<PresenceChange>(),
  "not-shown": emitted<NotShown>(),
  notice: emitted<Notice>(),
  error: emitted<ErrorAnswer["error"]>(),
  /** To everybody in many rooms, or to some people wherever they are; `id` is the same where it comes twice (ANN-4). */
  announcement: emitted<{ readonly id: string; readonly data: unknown }>(),
};

/** Events that the room sends. */
export interface ServerToClientEvents extends HeardFrom<typeof CHAT_EVENTS>, Heard<typeof SENDS> {}

/** Their names. */
export const HEARD_EVENTS: ReadonlySet<string> = new Set(
  [SENDS, ...CHAT_EVENTS.map(({ emits = {} }) => emits)].flatMap((emits) => Object.keys(emits)),
);

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
  /** The user set the mark back, and has not read on since. */
  readonly keptUnread?: true;
}

/** The part of `welcome` about rooms between two people. */
export interface DirectWelcome {
  /** The other one, in such a room; `name` is the newest by which the room knows them. */
  readonly direct?: { readonly user: string; readonly name: string };
}

/** The part of `welcome` about link cards. */
export interface LinkCardsWelcome {
  /** The server fetches them; absent: there are none. */
  readonly linkCards?: true;
}

/** The part of `welcome` about threads. */
export interface ThreadsWelcome {
  /** The room answers questions about them; absent: it does not. */
  readonly threads?: true;
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

/** The fields of `welcome` that no part of the room fills: where the client is, and the limits it lives under. */
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
    /** Older messages are dropped (CHAT-8): a client that keeps messages keeps them no longer. */
    readonly historySeconds: number;
    /** A room with more members names nobody who comes, goes or types. */
    readonly crowdMembers: number;
  };
}

/** The first event after CONNECT. Each part of the room fills its fields (RoomPart.welcome). */
export interface Welcome
  extends
    RoomWelcome,
    ChangesWelcome,
    DirectWelcome,
    FilesWelcome,
    LinkCardsWelcome,
    ReadingWelcome,
    ThreadsWelcome,
    TypingWelcome {
  readonly presence: { readonly count: number };
  readonly moderation: ModerationWelcome;
}
