// Describes the room for its reports to the lobby (LOB-1). Called by listing.ts.
import type { Message } from "../../protocol/chat-events.ts";
import { marksOf } from "../../protocol/people-marks.ts";
import { OVERTAKEN_MS_MAX, type RoomReport } from "../../protocol/room-list.ts";
import type { Room } from "../../chat/room/room.ts";
import type { Reported } from "../../chat/parts.ts";

/** LOB-4: also a room that wakes twice an hour repeats its report twice within this. */
export const REPORT_BELIEVED_MS = 150 * 60_000;

/** Up to so many members are in each report: they hardly make it larger. */
const PEOPLE_UNASKED_MAX = 4;

/** Of so many messages the authors are looked up when a room wakes. */
const AUTHORS_LOOKED_AT = 20;

/** The facts whose change is a reason for a report. */
export interface Facts {
  readonly members: number;
  readonly lastSeq: number;
  /** No messages are left. */
  readonly isBare: boolean;
}

export class RoomFacts {
  readonly #room: Room;
  readonly #sources: Reported;
  /** The time of the newest message; `undefined` until it is looked up. */
  #lastActivity: number | null | undefined;
  #madeAtMs = -Infinity;
  /** Two at most; `undefined` until they are looked up. */
  #authors: Set<string> | undefined;

  constructor(room: Room, sources: Reported) {
    this.#room = room;
    this.#sources = sources;
  }

  get isDirect(): boolean {
    return this.#sources.direct() !== undefined;
  }

  notePosted(messages: readonly Message[]): void {
    this.#lastActivity = messages.at(-1)!.timestamp;
    this.#noteAuthors(messages);
  }

  #noteAuthors(messages: readonly Message[]): void {
    for (const { sender } of messages) if (this.#authors && this.#authors.size < 2) this.#authors.add(sender);
  }

  /** @throws an error of the log */
  get #isShared(): boolean {
    if (!this.#authors) {
      const { messages } = this.#room.log.page({ limit: AUTHORS_LOOKED_AT });
      this.#authors = new Set();
      this.#noteAuthors(messages);
    }
    return this.#authors.size > 1;
  }

  now(): Facts {
    const { members, log, seenSeq } = this.#room;
    const lastSeq = seenSeq();
    return {
      members: members.count,
      lastSeq,
      isBare: log.firstSeq > lastSeq,
    };
  }

  /** @throws an error of the log */
  describe(wantsPeople: boolean): RoomReport {
    const { name, members, connectionCount, log, remote } = this.#room;
    const { lastSeq, isBare } = this.now();
    if (isBare) this.#lastActivity = null;
    this.#lastActivity ??= isBare ? null : (log.page({ limit: 1 }).messages[0]?.timestamp ?? null);
    // Never earlier than the last one where the clock was set back by a little: the lobby takes the later report.
    const nowMs = this.#room.now();
    this.#madeAtMs = this.#madeAtMs - nowMs <= OVERTAKEN_MS_MAX ? Math.max(nowMs, this.#madeAtMs) : nowMs;
    const direct = this.#sources.direct();
    const displayName = this.#sources.displayName();
    // DM-3: rooms between two people are in no list of operators.
    const facts = direct ? undefined : this.#sources.numbers();
    const showsPeople = wantsPeople || members.count <= PEOPLE_UNASKED_MAX;
    return {
      room: name,
      members: members.count,
      connections: connectionCount,
      ...(remote && remote.shards > 0 && { shards: [remote.shards, remote.connections] }),
      lastSeq,
      lastActivity: this.#lastActivity,
      ...(displayName !== undefined && { name: displayName }),
      believedMs: REPORT_BELIEVED_MS,
      madeAtMs: this.#madeAtMs,
      ...this.#sources.payers(),
      ...(this.#isShared && { isShared: true }),
      ...this.#sources.unread.pack(direct?.users),
      ...(direct && { direct }),
      ...(facts && { facts }),
      ...(showsPeople && { people: marksOf([...members.all()].map(({ user }) => user)) }),
    };
  }
}
