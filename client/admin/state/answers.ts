// Types of the HTTP API's answers, as far as the operator page reads them.
import type { DeadLetter } from "../../../src/protocol/schemas/relay.ts";
import type { ConnectionFacts } from "../../../src/protocol/watching.ts";

export const WAKE_CAUSES = ["connect", "message", "close", "alarm", "call", "watch"] as const;
export type WakeCause = (typeof WAKE_CAUSES)[number];

interface Counts {
  readonly posted: number;
  readonly delivered: number;
  readonly framesIn: number;
  readonly bytesIn: number;
  readonly framesOut: number;
  readonly bytesOut: number;
  readonly opened: number;
  readonly requests: number;
  readonly rows: number;
  readonly alarmsSet: number;
  readonly alarms: number;
  readonly awakeSeconds: number;
  readonly wakes: Readonly<Record<WakeCause, number>>;
}

export interface Use extends Counts {
  /** Since when it is counted, in milliseconds since 1970. */
  readonly since: number;
}

/** The same by the hour, of the last hours. */
export interface RecentUse extends Counts {
  readonly monthlyCost: Cost | null;
}

/** Dollars in 30 days. */
export interface Cost {
  readonly rows: number;
  readonly requests: number;
  readonly duration: number;
  readonly total: number;
}

/** A room as its lobby knows it. */
export interface ListedRoom {
  readonly room: string;
  readonly members: number;
  readonly connections: number;
  readonly lastSeq: number;
  readonly lastActivity: number | null;
  readonly use: Use;
  /** As on average since it is counted. */
  readonly monthlyCost: Cost | null;
  readonly lately: RecentUse;
}

/** A room as it says itself. */
export interface RoomStats {
  readonly room: string;
  readonly use: Use;
  readonly monthlyCost: Cost | null;
  readonly lately: RecentUse;
  readonly connections: readonly ConnectionFacts[];
  readonly hasMore: boolean;
}

export type { DeadLetter };

export interface Letters {
  readonly letters: readonly DeadLetter[];
  readonly hasMore: boolean;
}

export interface Replayed {
  readonly replayed: readonly number[];
  readonly failed: ReadonlyArray<{ readonly id: number; readonly reason: string }>;
}
