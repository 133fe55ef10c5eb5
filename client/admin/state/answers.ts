// Types of the HTTP API's answers, as far as the operator page reads them.
import type { EventsOf, Reports } from "parley-rooms/features";
import type { ConnectionFacts, Cost, DeadLetter, RecentUse, RoomOverview, RoomUse } from "parley-rooms/client";

export type { Cost, DeadLetter, RecentUse };
export type Use = RoomUse;

export type WakeCause = keyof Use["wakes"];
export const WAKE_CAUSES: readonly WakeCause[] = ["connect", "message", "close", "alarm", "call", "watch"];

/** The use of a room and its cost: on average since the beginning of the count, and lately. */
export interface Usage {
  readonly use: Use;
  readonly monthlyCost: Cost | null;
  readonly lately: RecentUse;
}

/** A room as its lobby knows it. */
export interface ListedRoom extends RoomOverview, Usage {
  readonly connections: number;
  /** Numbers that features of the room's own class give. */
  readonly facts?: Readonly<Record<string, number>>;
}

/** A room's own report. */
export interface RoomStats extends Usage {
  readonly connections: readonly ConnectionFacts[];
}

export interface Letters {
  readonly letters: readonly DeadLetter[];
  readonly hasMore: boolean;
}

export interface StoredFile {
  readonly key: string;
  readonly room: string;
  readonly user?: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly uploadedAt: number;
}

export interface StoredFiles {
  readonly files: readonly StoredFile[];
  readonly hasMore: boolean;
}

/** How a report is resolved. */
export type Resolving = Parameters<EventsOf<Reports>["sent"]["resolve-report"]>[0];

export interface Replayed {
  readonly replayed: readonly number[];
  readonly failed: ReadonlyArray<{ readonly id: number; readonly reason: string }>;
}
