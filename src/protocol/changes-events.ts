// The vocabulary of messages that change after they were posted: edits, deletions, reactions.
import type { Answer, Message } from "./chat-events.ts";

export interface EditPayload {
  /** The `id` of the message. */
  readonly id: string;
  readonly content: string;
}

export interface MessagePayload {
  /** The `id` of the message. */
  readonly id: string;
}

export interface ReactPayload {
  /** The `id` of the message. */
  readonly id: string;
  readonly emoji: string;
  /** Whether the reaction is set, or taken back. */
  readonly on: boolean;
}

export interface ChangesPayload {
  /** The newest `rev` that the client was told. */
  readonly after: number;
  readonly limit?: number;
}

/** What a message said at some time. */
export interface Version {
  readonly content: string;
  /** From when on, in milliseconds since 1970. */
  readonly timestamp: number;
  /** The user id of who wrote it. */
  readonly by: string;
}

/** One emoji below a message, as messages carry it. */
export interface ReactionSummary {
  readonly emoji: string;
  readonly count: number;
  /** Those who set it first; fewer than `count` where there are many. */
  readonly users: readonly string[];
}

/** As it stands now. */
export type MessageAnswer = Answer<{ readonly message: Message }>;
export type EditAnswer = Answer<{ readonly editedAt: number }>;
export type DeleteAnswer = Answer<object>;
/** The oldest first, the present one last; none of a deleted message. `hasMore`: older ones do not fit in the answer. */
export type VersionsAnswer = Answer<{ readonly versions: readonly Version[]; readonly hasMore?: true }>;
export type ReactAnswer = Answer<object>;
/** With all users. `hasMore`: not all of them fit in the answer. */
export type ReactionsAnswer = Answer<{ readonly reactions: readonly ReactionSummary[]; readonly hasMore?: true }>;
/** Messages that changed, as they stand now, in the order of their last changes. `rev`: where to go on. */
export type ChangesAnswer = Answer<{
  readonly messages: readonly Message[];
  readonly rev: number;
  readonly hasMore: boolean;
}>;

export interface ChangesClientEvents {
  "get-message": (payload: MessagePayload, ack?: (answer: MessageAnswer) => void) => void;
  "edit-message": (payload: EditPayload, ack?: (answer: EditAnswer) => void) => void;
  "delete-message": (payload: MessagePayload, ack?: (answer: DeleteAnswer) => void) => void;
  versions: (payload: MessagePayload, ack?: (answer: VersionsAnswer) => void) => void;
  react: (payload: ReactPayload, ack?: (answer: ReactAnswer) => void) => void;
  reactions: (payload: MessagePayload, ack?: (answer: ReactionsAnswer) => void) => void;
  changes: (payload: ChangesPayload, ack?: (answer: ChangesAnswer) => void) => void;
}

/** What every change says besides. */
interface ChangeEvent {
  readonly id: string;
  readonly seq: number;
  /** How far whoever heard this knows of changes. */
  readonly rev: number;
}

export interface MessageEdited extends ChangeEvent {
  readonly content: string;
  readonly editedAt: number;
  /** The user id of who edited it. */
  readonly by: string;
  readonly mentions?: readonly string[];
}

export interface MessageDeleted extends ChangeEvent {
  /** The user id of who deleted it. */
  readonly by: string;
}

export interface Reaction extends ChangeEvent {
  readonly emoji: string;
  readonly user: string;
  readonly on: boolean;
  /** Users who have set this emoji, after the change. */
  readonly count: number;
}

export interface ChangesServerEvents {
  "message-edited": (edited: MessageEdited) => void;
  "message-deleted": (deleted: MessageDeleted) => void;
  reaction: (reaction: Reaction) => void;
}

/** What a newcomer is told of changes. */
export interface ChangesWelcome {
  /** Opaque and growing: `changes {after: rev}` tells what changes from now on. */
  readonly rev: number;
}
