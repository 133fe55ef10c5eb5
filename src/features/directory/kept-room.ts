// The record that a lobby keeps of a room, and its place in the list as time goes by (LOB-4, MET-2). Called by lobby.ts.
import { addRecent, addUsage, type RecentUsage, type UsageNumbers } from "../../metrics/usage.ts";
import type { Counts } from "../../metrics/meter.ts";
import type { RoomOverview } from "../../protocol/chat-events.ts";
import type { DirectReport } from "../../protocol/direct-room.ts";
import type { RoomNumbers, RoomReport } from "../../protocol/room-list.ts";
import { withEarlierMentions, type ReportedUnread } from "../../protocol/unread.ts";

/** The usage of a room since its first report. */
export interface KeptUsage {
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
  /** Of the last counter delta that is in these numbers. */
  readonly deltaId: number;
  readonly connections: number;
  readonly numbers: UsageNumbers;
  readonly recent?: RecentUsage;
}

export interface KeptRoom extends RoomOverview, ReportedUnread {
  /** The marks of its members, if the room reported them. */
  readonly people?: string;
  /** Its two users, in a room between two people. */
  readonly direct?: DirectReport;
  /** The numbers of custom features. */
  readonly facts?: RoomNumbers;
  /** Also messages of a second author were reported once. */
  readonly isShared?: true;
  /** As reported. In memory only. */
  readonly payers?: string;
  /** As reported. */
  readonly shards?: RoomReport["shards"];
  /** Until when its members are believed to be there, in milliseconds since 1970. */
  readonly believedUntilMs: number;
  readonly usage?: KeptUsage;
}

/** @param counts those of the room since its last report, unless they are known already */
export function keptRoom(report: RoomReport, nowMs: number, before: KeptRoom | undefined, counts?: Counts): KeptRoom {
  const {
    room,
    members,
    lastSeq,
    lastActivity,
    name,
    believedMs,
    connections = 0,
    shards,
    people,
    payers,
    direct,
    facts,
    unread,
  } = report;
  const usage = withCounts(before?.usage, report, nowMs, counts);
  const mentioned = withEarlierMentions(report, before?.mentioned);
  return {
    room,
    members,
    lastSeq,
    lastActivity,
    ...(name !== undefined && { name }),
    believedUntilMs: nowMs + believedMs,
    ...(shards && { shards }),
    ...(people !== undefined && { people }),
    ...(payers !== undefined && { payers }),
    ...((report.isShared ?? before?.isShared) && { isShared: true }),
    ...(direct && { direct }),
    ...(unread !== undefined && { unread }),
    ...(mentioned !== "" && { mentioned }),
    ...(facts && { facts }),
    ...(usage && { usage: { ...usage, connections } }),
  };
}

export function withCounts(
  before: KeptUsage | undefined,
  report: RoomReport,
  nowMs: number,
  counts?: Counts,
): KeptUsage | undefined {
  if (!counts) return before;
  const { sinceMs = nowMs, numbers: used = [], connections = 0 } = before ?? {};
  const recent = addRecent(before?.recent, counts, nowMs);
  const deltaId = report.delta?.id ?? 0;
  return { sinceMs, deltaId, connections, numbers: addUsage(used, counts), recent };
}

/** LOB-8: how long a conversation without messages is listed. */
export const UNUSED_DIRECT_MS_MAX = 7 * 86_400_000;

/** The room's presumed state now; `undefined` for a room without members and messages. */
export function seenAt(kept: KeptRoom, nowMs: number): RoomOverview | undefined {
  const { room, lastSeq, lastActivity, name, direct, believedUntilMs } = kept;
  const members = nowMs < believedUntilMs ? kept.members : 0;
  const isAwaited = direct !== undefined && (lastSeq > 0 || nowMs < believedUntilMs + UNUSED_DIRECT_MS_MAX);
  const isEmpty = members === 0 && lastActivity === null && !isAwaited;
  return isEmpty ? undefined : { room, members, lastSeq, lastActivity, ...(name !== undefined && { name }) };
}
