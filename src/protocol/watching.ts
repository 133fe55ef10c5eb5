// The state of a room that operators see: in the namespace in which they watch it, and in the answer of `GET /api/rooms/:room/stats`.
import type { Role } from "./chat-events.ts";
import type { CounterDelta } from "./room-list.ts";

export const WATCH_NAMESPACE = "/admin";

/** A connection with this in its query wakes the room as one that only watches: WATCH-4. */
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

/** A shard of a big room. */
export interface ShardFacts {
  /** A part of the world, as the platform names it for objects; empty where it is unknown. */
  readonly region: string;
  /** Connections that it holds. */
  readonly sockets: number;
  /** Characters on their way to it. */
  readonly waitingChars: number;
}

export interface WatchedRoom {
  readonly room: string;
  /** By the room's clock, in milliseconds since 1970. */
  readonly at: number;
  readonly members: number;
  readonly lastSeq: number;
  readonly awake: { readonly since: number; readonly cause: string; readonly detail: string };
  /** In the room itself, and in its shards. */
  readonly connectionCount: number;
  /** Absent where there are none. */
  readonly shards?: readonly ShardFacts[];
  /** Those of the room itself. */
  readonly connections: readonly ConnectionFacts[];
  readonly hasMore: boolean;
}

/** The query of `GET …/stats`. */
export interface StatsQuery {
  readonly limit: number;
  /** The `id` of the connection that the page before ended with. */
  readonly after?: string | undefined;
}

/** The answer of a room to it, with the counts that the lobby does not have yet. */
export interface RoomStats extends Pick<
  WatchedRoom,
  "awake" | "members" | "connectionCount" | "shards" | "connections" | "hasMore"
> {
  /** Counts that were not sent to the lobby; and those that were sent and may not have arrived. */
  readonly unreported: {
    readonly sent: CounterDelta | undefined;
    readonly counts: CounterDelta["counts"];
    /** A batch with a later id has `counts`. Absent in the answers of earlier releases. */
    readonly lastId?: number;
  };
}

/** @param all of the room */
export function pageOfConnections(
  all: Iterable<ConnectionFacts>,
  { limit, after = "" }: StatsQuery,
): Pick<RoomStats, "connections" | "hasMore"> {
  const behind = [...all].filter(({ id }) => id > after).sort((a, b) => (a.id < b.id ? -1 : 1));
  return { connections: behind.slice(0, limit), hasMore: behind.length > limit };
}

export interface WatchEvents {
  watch: (room: WatchedRoom) => void;
}
