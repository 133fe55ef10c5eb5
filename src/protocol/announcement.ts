// What is said to many rooms, or to people wherever they are, as it travels: ANN-1 to ANN-6.
import type { ServerToClientEvents } from "./chat-events.ts";

export type { AnnounceProgress } from "./schemas/relay.ts";

/** What clients are told by where no event is named. */
export const ANNOUNCEMENT_EVENT = "announcement";

/** The one event of the chat itself that may be announced: each room stores it as a message of the service. */
export const POSTED_EVENT = "chat-message";

/** Events that only a room itself may send. The compiler knows when one is missing. */
const OF_THE_CHAT: Readonly<Record<keyof ServerToClientEvents, true>> = {
  announcement: true,
  welcome: true,
  "chat-message": true,
  presence: true,
  notice: true,
  error: true,
  "message-edited": true,
  "message-deleted": true,
  reaction: true,
  moderation: true,
  read: true,
  typing: true,
};

/** Names that Socket.IO itself gives, and those that the client module makes of others. */
const OF_CLIENTS: ReadonlySet<string> = new Set(
  "connect connect_error disconnect disconnecting newListener removeListener message-state connection gap restart".split(
    " ",
  ),
);

/** Whether an event of that name would be taken for the chat's own: ANN-3. */
export function isReservedEvent(event: string): boolean {
  return Object.hasOwn(OF_THE_CHAT, event) || OF_CLIENTS.has(event);
}

/** Of the form that items have; one that is read as something else now needs another. */
export const ANNOUNCE_VERSION = 1;

export const ANNOUNCEMENT_ID_CHARS_MAX = 64;

export interface Announcement {
  readonly v: typeof ANNOUNCE_VERSION;
  /** 1 to `ANNOUNCEMENT_ID_CHARS_MAX` characters, unique everywhere. */
  readonly id: string;
  /** Absent: `announcement`. */
  readonly event?: string;
  readonly data: unknown;
  /** When it was accepted, in milliseconds since 1970: no room has it from before. */
  readonly at: number;
  /** Whose message it is, where the event is one. */
  readonly by: { readonly user: string; readonly name: string };
}

/** Somebody who is addressed, and their place among all. */
export type NumberedUser = readonly [number: number, user: string];

/** What a room is to say. */
export interface AnnouncedHere extends Announcement {
  /** Absent: everybody is meant. */
  readonly users?: readonly NumberedUser[];
  /** Whether the lobby is to know who is there from now on. */
  readonly wantsPeople?: true;
}

export type AnnounceOutcome =
  /** The numbers of those users who heard it; where everybody was meant, whether anybody did. */
  | { readonly ok: true; readonly reached: readonly number[]; readonly isHeard: boolean }
  | { readonly ok: false; readonly isFinal: boolean; readonly reason: string };

export interface AnnounceDestination {
  readonly room: string;
  /** The room's place among all, where rooms are addressed. */
  readonly number?: number;
  /** Those who are there, as far as is known. */
  readonly users?: readonly NumberedUser[];
}

/** What travels in one message of the queue. */
export interface AnnouncePart {
  readonly announce: Announcement;
  readonly part: number;
  /** Tries that have failed. */
  readonly tries: number;
  readonly to: readonly AnnounceDestination[];
  /** Who is asked for in those rooms of which it is not known who is there. */
  readonly whoever?: readonly NumberedUser[];
}

/** What is left of a list of rooms by prefix. */
export interface AnnounceWalk {
  readonly announce: Announcement;
  readonly walk: {
    readonly prefix: string;
    /** The last room of those before. */
    readonly after?: string;
    /** Rooms, and parts, that there were before. */
    readonly rooms: number;
    readonly parts: number;
  };
}

/** Users who were nowhere, to be looked for once more: a part whose rooms are not known yet. */
export interface AnnounceLook {
  readonly announce: Announcement;
  readonly part: number;
  readonly look: readonly NumberedUser[];
}

export type AnnounceItem = AnnouncePart | AnnounceWalk | AnnounceLook;

/** What became of a part. */
export interface AnnounceNote {
  readonly id: string;
  readonly part: number;
  readonly reached: readonly number[];
  readonly failed: readonly number[];
  /** Whether nothing of it is tried again. */
  readonly isOver: boolean;
}

/** How many destinations and parts there are, once that is known. */
export interface AnnounceTotal {
  readonly id: string;
  readonly accepted: number;
  readonly parts: number;
}

/** Where users are, as far as a lobby knows. */
export interface Whereabouts {
  /** Places in the list that was asked about. */
  readonly found: ReadonlyArray<readonly [room: string, users: readonly number[]]>;
  /** Rooms with somebody in them, and nobody knows who. */
  readonly unknown: readonly string[];
}
