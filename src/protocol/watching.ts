// What travels in the namespace in which a room is watched by those who look after it.
import type { Role } from "./chat-events.ts";

export const WATCH_NAMESPACE = "/admin";

/** A connection that says so in its query wakes the room as one that only watches: WATCH-4. */
export const WATCH_QUERY = "watch";

/** At most one `watch` in this time. */
export const WATCH_INTERVAL_MS = 1000;

/** Connections that a `watch` tells of; all of them are a call's matter. */
export const WATCHED_CONNECTIONS_MAX = 100;

export interface ConnectionFacts {
  /** Names the connection, and opens nothing (EIO-12); pages of the list stand in its order. */
  readonly id: string;
  /** Absent before CONNECT. */
  readonly user?: string;
  readonly name?: string;
  readonly role?: Role;
  /** It is no member: it only watches. */
  readonly isWatching?: true;
  readonly transport: "websocket" | "polling";
  /** Whether it is our own client, which keeps the heartbeat itself. */
  readonly isExtended: boolean;
  /** When it was opened, in milliseconds since 1970. */
  readonly since: number;
  /** Its last sign of life. */
  readonly lastSeen: number;
}

export interface WatchedRoom {
  readonly room: string;
  /** By the room's clock, in milliseconds since 1970. */
  readonly at: number;
  readonly members: number;
  readonly lastSeq: number;
  readonly awake: { readonly since: number; readonly cause: string; readonly detail: string };
  readonly connectionCount: number;
  readonly connections: readonly ConnectionFacts[];
  readonly hasMore: boolean;
}

export interface WatchEvents {
  watch: (room: WatchedRoom) => void;
}
