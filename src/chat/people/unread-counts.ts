// Counts the messages of others that each reader of the room has not read, deleted ones left out, for the reports to the lobby. Called by
// room-facts.ts and features.ts.
import { RecentMap } from "../../clock/recent-map.ts";
import type { Message } from "../../protocol/chat-events.ts";
import { packUnread, readerMark, UNREAD_MAX } from "../../protocol/unread.ts";
import type { MadeChange, RoomPart } from "../room/feature.ts";
import type { Room } from "../room/room.ts";

/** Readers in a report: those who have read the furthest, guests behind all others. */
export const READERS_MAX = 1000;

/** Messages that are looked at; a reader's own are among them. */
export const NEWEST_MAX = 2 * UNREAD_MAX;

/** The form of ids that POST /api/guest gives: anybody can have any number of them. */
const GUEST = /^guest-[0-9a-f]{16}$/;

export interface ReaderSources {
  /** How far users have read; 0 for those who have only been here. */
  readonly marks: { entries(): Iterable<readonly [user: string, seq: number]>; get(user: string): number };
  readonly isBanned: (user: string) => boolean;
}

type Counted = Pick<Message, "seq" | "sender" | "name">;

export class UnreadCounts implements RoomPart {
  readonly #room: Room;
  readonly #sources: ReaderSources;
  readonly #readerMarks = new RecentMap<string, string>(READERS_MAX);
  /** The newest messages that are not deleted, ascending; read when they are needed first. */
  #newest: Counted[] | undefined;

  constructor(room: Room, sources: ReaderSources) {
    this.#room = room;
    this.#sources = sources;
  }

  onPosted(messages: readonly Message[]): void {
    const isStored = messages.at(-1)!.seq <= this.#room.log.lastSeq;
    if (!this.#newest && isStored) return;
    const known = this.#all;
    const lastSeq = known.at(-1)?.seq ?? 0;
    for (const { seq, sender, name } of messages) if (seq > lastSeq) known.push({ seq, sender, name });
    if (known.length > NEWEST_MAX) known.splice(0, known.length - NEWEST_MAX);
  }

  onChanged({ kind, posted }: MadeChange): void {
    if (kind === "deleted") this.#newest = this.#newest?.filter(({ seq }) => seq !== posted.seq);
  }

  /** @returns UNREAD_MAX for that many or more */
  of(user: string, readSeq: number): number {
    const all = this.#all;
    let count = 0;
    for (let at = all.length - 1; at >= 0 && all[at]!.seq > readSeq && count < UNREAD_MAX; at--) {
      if (all[at]!.sender !== user) count++;
    }
    return count;
  }

  /** The name under which a user wrote here last. */
  nameOf(user: string): string | undefined {
    return this.#all.findLast(({ sender }) => sender === user)?.name;
  }

  /** All readers with their counts, as a report has them. @param users instead of all that have read or are here */
  pack(users: Iterable<string> = this.#readers()): string {
    const { marks } = this.#sources;
    return packUnread(Array.from(users, (user) => [this.#markOf(user), this.of(user, marks.get(user))]));
  }

  #readers(): Iterable<string> {
    const { marks, isBanned } = this.#sources;
    const { members } = this.#room;
    const seqs = new Map(marks.entries());
    // Those who are here for the first time; of a crowd only those count who read.
    if (!members.isLarge) for (const { user } of members.all()) if (!seqs.has(user)) seqs.set(user, 0);
    const readers = Array.from(seqs).filter(([user]) => !isBanned(user));
    if (readers.length > READERS_MAX)
      readers.sort(([a, x], [b, y]) => Number(GUEST.test(a)) - Number(GUEST.test(b)) || y - x || (a < b ? -1 : 1));
    return readers.slice(0, READERS_MAX).map(([user]) => user);
  }

  #markOf(user: string): string {
    const mark = this.#readerMarks.get(user) ?? readerMark(user);
    this.#readerMarks.set(user, mark);
    return mark;
  }

  get #all(): Counted[] {
    const { log } = this.#room;
    this.#newest ??= this.#read();
    while (this.#newest.length > 0 && this.#newest[0]!.seq < log.firstSeq) this.#newest.shift();
    return this.#newest;
  }

  #read(): Counted[] {
    const { log, read } = this.#room;
    const found: Counted[] = [];
    if (log.lastSeq === 0) return found;
    read(() => {
      let looked = 0;
      for (const { seq, sender, name, deleted } of log.descending(Infinity)) {
        if (!deleted) found.push({ seq, sender, name });
        if (++looked === NEWEST_MAX) break;
      }
    });
    return found.reverse();
  }
}
