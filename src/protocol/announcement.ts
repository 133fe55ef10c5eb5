// Announcements to many rooms, or to users in any room, in the form in which they travel (ANN-1 to ANN-6).
import { HEARD_EVENTS } from "./chat-events.ts";
import type { Announcement, NumberedUser } from "./schemas/announcement.ts";

export type * from "./schemas/announcement.ts";
export type { AnnounceProgress } from "./schemas/relay.ts";

/** The event that clients hear where none is named. */
export const ANNOUNCEMENT_EVENT = "announcement";

/** The one event of the chat that may be announced: each room stores it as a message of the service. */
export const POSTED_EVENT = "chat-message";

/** Names of Socket.IO's own events, and of those that the client module derives. */
const OF_CLIENTS: ReadonlySet<string> = new Set(
  "connect connect_error disconnect disconnecting newListener removeListener message-state connection gap restart".split(
    " ",
  ),
);

/** Whether clients would take an event of that name for the chat's own (ANN-3). */
export function isReservedEvent(event: string): boolean {
  return HEARD_EVENTS.has(event) || OF_CLIENTS.has(event);
}

/** The version of the form of items. A change of what a field means needs another one. */
export const ANNOUNCE_VERSION = 1;

export const ANNOUNCEMENT_ID_CHARS_MAX = 64;

/** An announcement for one room. */
export interface AnnouncedHere extends Announcement {
  /** Absent: it is for everybody in the room. */
  readonly users?: readonly NumberedUser[];
  /** Whether the room has to report its members to the lobby from now on. */
  readonly wantsPeople?: true;
}

export type AnnounceOutcome =
  /** The numbers of the users who heard it; where it was for everybody, whether any connection did. */
  | { readonly ok: true; readonly reached: readonly number[]; readonly isHeard: boolean }
  | { readonly ok: false; readonly isFinal: boolean; readonly reason: string };

/** The result of a part. */
export interface AnnounceNote {
  readonly id: string;
  readonly part: number;
  readonly reached: readonly number[];
  readonly failed: readonly number[];
  /** Whether none of it is tried again. */
  readonly isOver: boolean;
}

/** The number of destinations and parts, once it is known. */
export interface AnnounceTotal {
  readonly id: string;
  readonly accepted: number;
  readonly parts: number;
}

/** The rooms of users, as far as a lobby knows. */
export interface Whereabouts {
  /** Users by their index in the list that was asked about. */
  readonly found: ReadonlyArray<readonly [room: string, users: readonly number[]]>;
  /** Occupied rooms whose members the lobby does not know. */
  readonly unknown: readonly string[];
}
