// Describes the room for its reports to the lobby (LOB-1). Called by listing.ts.
import type { DirectReport } from "../../protocol/direct-room.ts";
import { marksOf } from "../../protocol/people-marks.ts";
import { OVERTAKEN_MS_MAX, type RoomReport } from "../../protocol/room-list.ts";
import type { Members } from "../room/members.ts";
import type { Room } from "../room/room.ts";

/** LOB-4: also a room that wakes twice an hour repeats its report twice within this. */
export const REPORT_BELIEVED_MS = 150 * 60_000;

/** So few members are reported unasked: they hardly make a report larger. */
const PEOPLE_UNASKED_MAX = 4;

export class RoomFacts {
  readonly #room: Room;
  readonly #members: Members;
  readonly #direct: () => DirectReport | undefined;
  /** The moment of the newest message; `undefined` until it is looked up. */
  #lastActivity: number | null | undefined;
  /** When the latest report was made. */
  #madeAtMs = -Infinity;

  /** @param direct its two users, in a room between two people */
  constructor(room: Room, members: Members, direct: () => DirectReport | undefined) {
    this.#room = room;
    this.#members = members;
    this.#direct = direct;
  }

  get direct(): DirectReport | undefined {
    return this.#direct();
  }

  noteActivity(atMs: number): void {
    this.#lastActivity = atMs;
  }

  /** The log may have dropped messages. @returns whether the last one is gone since */
  noteTrimmed(): boolean {
    const { firstSeq, lastSeq } = this.#room.log;
    if (firstSeq <= lastSeq || lastSeq === 0 || this.#lastActivity === null) return false;
    this.#lastActivity = null;
    return true;
  }

  /** @returns `undefined` where the log cannot be read */
  describe(wantsPeople: boolean): RoomReport | undefined {
    const { name, clients, seenSeq, read, now } = this.#room;
    const lastActivity = (this.#lastActivity ??= read((log) => log.page({ limit: 1 }).messages[0]?.timestamp ?? null));
    if (lastActivity === undefined) return undefined;
    const members = this.#members.count;
    const { direct } = this;
    const showsPeople = wantsPeople || members <= PEOPLE_UNASKED_MAX;
    return {
      room: name,
      members,
      connections: clients.size,
      lastSeq: seenSeq(),
      lastActivity,
      believedMs: REPORT_BELIEVED_MS,
      madeAtMs: (this.#madeAtMs = this.#nextMadeAt(now())),
      ...(direct && { direct }),
      ...(showsPeople && { people: marksOf([...this.#members.all()].map(({ user }) => user)) }),
    };
  }

  /** Never earlier than the last one where the clock was set back by a little: the lobby takes the later report. */
  #nextMadeAt(nowMs: number): number {
    return this.#madeAtMs - nowMs <= OVERTAKEN_MS_MAX ? Math.max(nowMs, this.#madeAtMs) : nowMs;
  }
}

/** Whether the lobby has the same of members and messages. */
export function isKnown(report: RoomReport, reported: Partial<RoomReport> | undefined, wantsPeople: boolean): boolean {
  const { members, lastSeq, lastActivity, people, direct } = report;
  if (reported?.direct?.read.join() !== direct?.read.join()) return false;
  if (wantsPeople && reported?.people !== people) return false;
  return reported?.members === members && reported.lastSeq === lastSeq && reported.lastActivity === lastActivity;
}
