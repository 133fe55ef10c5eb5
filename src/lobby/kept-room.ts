// What a lobby keeps of a room, and what it makes of it as time goes by: LOB-4.
import type { RoomOverview } from "../protocol/chat-events.ts";
import type { RoomReport } from "../protocol/room-list.ts";

export interface KeptRoom extends RoomOverview {
  /** Until when somebody is believed to be there, in milliseconds since 1970. */
  readonly believedUntilMs: number;
}

export function keptRoom(report: RoomReport, nowMs: number): KeptRoom {
  const { room, members, lastSeq, lastActivity, believedMs } = report;
  return { room, members, lastSeq, lastActivity, believedUntilMs: nowMs + believedMs };
}

/** The room as it is taken to be now; `undefined` where nothing is left of it: nobody there, and no message. */
export function seenAt({ believedUntilMs, ...told }: KeptRoom, nowMs: number): RoomOverview | undefined {
  const members = nowMs < believedUntilMs ? told.members : 0;
  return members === 0 && told.lastActivity === null ? undefined : { ...told, members };
}
