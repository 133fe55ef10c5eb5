// Counts the messages of others that each reader of the room has not read, deleted ones left out, and those among them that mention the
// reader, for the room reports. Made by parts.ts, which hands it to features/directory/room-facts.ts.
import { RecentMap } from "../../clock/recent-map.ts";
import type { Message } from "../../protocol/chat-events.ts";
import { mentionsIn } from "../../protocol/text/mentions.ts";
import { packMentioned, packUnread, readerMark, UNREAD_MAX, type ReportedUnread } from "../../protocol/unread.ts";
import type { MadeChange, RoomPart } from "../room/room-part.ts";
import type { Room } from "../room/room.ts";

/** Readers in a report: those who have read the furthest, guests behind all others. */
export const READERS_MAX = 1000;

/** Messages that are counted, deleted ones left out; a reader's own are among them. */
export const NEWEST_MAX = 2 * UNREAD_MAX;

/** Messages that are looked at for them, deleted ones among them. */
export const LOOKED_MAX = 1000;

/** The form of ids that POST /api/guest gives: anybody can have any number of them. */
const GUEST = /^guest-[0-9a-f]{16}$/;

export interface ReaderSources {
  /** How far users have read; 0 for those who have only been here. */
  readonly marks: { entries(): Iterable<readonly [user: string, seq: number]>; get(user: string): number };
  readonly isBanned: (user: string) => boolean;
}

type Counted = Pick<Message, "seq" | "sender" | "name" | "mentions">;

const counted = ({ seq, sender, name, mentions }: Message): Counted => ({
  seq,
  sender,
  name,
  ...(mentions && { mentions }),
});

export class UnreadCounts implements RoomPart {
  readonly #room: Room;
  readonly #sources: ReaderSources;
  readonly #readerMarks = new RecentMap<string, string>(READERS_MAX);
  /** The newest messages that are not deleted, ascending; read when they are needed first, and on where deletions leave too few. */
  #newest: Counted[] | undefined;
  /** The seq from which on they are all there. */
  #fromSeq = Infinity;

  constructor(room: Room, sources: ReaderSources) {
    this.#room = room;
    this.#sources = sources;
  }

  onPosted(messages: readonly Message[]): void {
    const isStored = messages.at(-1)!.seq <= this.#room.log.lastSeq;
    if (!this.#newest && isStored) return;
    const known = this.#newest ?? this.#all;
    const lastSeq = known.at(-1)?.seq ?? 0;
    for (const message of messages) if (message.seq > lastSeq) known.push(counted(message));
    if (known.length <= NEWEST_MAX) return;
    known.splice(0, known.length - NEWEST_MAX);
    this.#fromSeq = known[0]!.seq;
  }

  onChanged({ kind, posted, change }: MadeChange): void {
    if (kind === "reacted" || !this.#newest) return;
    const at = this.#newest.findIndex(({ seq }) => seq === posted.seq);
    if (at < 0) return;
    if (kind === "deleted") this.#newest.splice(at, 1);
    else this.#newest[at] = { ...this.#newest[at]!, mentions: mentionsIn(change.edits.at(-1)!.content) };
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

  /**
   * All readers with what is new for them, as a report has it.
   * @param pair the two users of a room between them, where each message speaks to the other one; instead of all that have read or are here
   */
  pack(pair?: readonly string[]): ReportedUnread {
    const { marks } = this.#sources;
    const users = pair ?? [...this.#readers()];
    if (users.length === 0) return { unread: "" };
    const unread = packUnread(users.map((user) => [this.#markOf(user), this.of(user, marks.get(user))]));
    const mentioned = packMentioned(this.#mentioned(new Set(users), pair));
    return { unread, ...(mentioned !== "" && { mentioned }) };
  }

  *#mentioned(users: ReadonlySet<string>, pair?: readonly string[]): Iterable<readonly [string, number, number]> {
    const { marks } = this.#sources;
    const found = new Map<string, readonly [count: number, newestSeq: number]>();
    for (const { seq, sender, mentions = [] } of this.#all)
      for (const user of pair ?? mentions)
        if (user !== sender && users.has(user) && seq > marks.get(user))
          found.set(user, [Math.min((found.get(user)?.[0] ?? 0) + 1, UNREAD_MAX), seq]);
    for (const [user, numbers] of found) yield [this.#markOf(user), ...numbers];
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
    const all = (this.#newest ??= []);
    while (all.length > 0 && all[0]!.seq < log.firstSeq) all.shift();
    if (all.length < NEWEST_MAX) this.#readOn(all);
    return all;
  }

  #readOn(all: Counted[]): void {
    const { log, read } = this.#room;
    const endSeq = Math.max(log.firstSeq, log.lastSeq - LOOKED_MAX + 1);
    const beforeSeq = Math.min(this.#fromSeq, log.lastSeq + 1);
    this.#fromSeq = Math.min(beforeSeq, endSeq);
    if (beforeSeq <= endSeq) return;
    const found: Counted[] = [];
    read(() => {
      for (const message of log.descending(beforeSeq)) {
        if (message.seq < endSeq) break;
        if (!message.deleted) found.push(counted(message));
        if (all.length + found.length < NEWEST_MAX) continue;
        this.#fromSeq = message.seq;
        break;
      }
    });
    all.unshift(...found.reverse());
  }
}
