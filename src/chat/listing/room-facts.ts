// What a room has to say of itself when it reports to the lobby: LOB-1.
import type { DirectReport } from "../../protocol/direct-room.ts";
import { marksOf } from "../../protocol/people-marks.ts";
import { OVERTAKEN_MS_MAX, type RoomReport } from "../../protocol/room-list.ts";
import type { Members } from "../room/members.ts";
import type { Room } from "../room/room.ts";

/** LOB-4: even a room that is woken twice an hour says so again before this is over, twice. */
export const REPORT_BELIEVED_MS = 150 * 60_000;

/** So few are told unasked: they make a report no larger than it is. */
const PEOPLE_UNASKED_MAX = 4;

export class RoomFacts {
  readonly #room: Room;
  readonly #members: Members;
  readonly #direct: () => DirectReport | undefined;
  /** Of the newest message; `undefined` until it is looked up. */
  #lastActivity: number | null | undefined;
  /** When the latest report was made. */
  #madeAtMs = -Infinity;

  /** @param direct whose the room is, where it is between two people */
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

  /** The log may have forgotten. @returns whether it is news that nothing is left to be listed for */
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

  /** Also where the clock was set back by a little, the lobby has to take it for the later report. */
  #nextMadeAt(nowMs: number): number {
    return this.#madeAtMs - nowMs <= OVERTAKEN_MS_MAX ? Math.max(nowMs, this.#madeAtMs) : nowMs;
  }
}

/** Whether the lobby was told the same of members and messages. */
export function isKnown(report: RoomReport, told: Partial<RoomReport> | undefined, wantsPeople: boolean): boolean {
  const { members, lastSeq, lastActivity, people, direct } = report;
  if (told?.direct?.read.join() !== direct?.read.join()) return false;
  if (wantsPeople && told?.people !== people) return false;
  return told?.members === members && told.lastSeq === lastSeq && told.lastActivity === lastActivity;
}
