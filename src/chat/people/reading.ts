// Read marks: how far each user has read. A mark moves forward, and back if its user asks for that (READ-7); the room sends marks in bursts
// (READ-2) and stores them every few seconds while users read. Between two writes each mark is on its user's connection, so sleep loses none
// and a crash those of the few seconds after the last write: READ-4.
import { READ, READ_MARKS, type ReadPayload } from "../../protocol/events/people.ts";
import type { Answer, ReadingWelcome } from "../../protocol/chat-events.ts";
import { hasPassed, type ThrottledRun } from "../../clock/rates.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { refuse } from "../../protocol/refuse.ts";
import { handler, type Caller } from "../room/operation.ts";
import { ReadMarks } from "./read-marks.ts";
import { type RoomPart, Slot } from "../room/room-part.ts";
import type { Client, Connection, Room } from "../room/room.ts";

/** A quiet room sends a mark at once, a busy one at most this often (READ-2). */
export const READ_SEND_WINDOW_MS = 1000;

/** From one write to the next, while the users of the marks stay. */
export const READ_STORE_INTERVAL_MS = 5000;

/** From a disconnect to the write, so that users who leave at the same time share the row. */
export const READ_STORE_GATHER_MS = 1000;

/** After so many failed tries the room tries again only with its next write: READ-4. */
const STORE_TRIES_MAX = 12;

/** Marks in an answer to `read-marks` (READ-5). */
export const READ_MARKS_SHOWN_MAX = 100;

/** How far the user has read, as last sent over the connection. */
const READ_SEQ = new Slot<number>("readSeq");

export class Reading implements RoomPart {
  readonly #room: Room;
  readonly #marks: ReadMarks;
  /** Users whose marks moved forward since marks were last sent. */
  readonly #unsent = new Set<string>();
  readonly #read: (before: number | undefined) => void;
  #throttle!: ThrottledRun;
  #storeDeadline!: Deadline;
  #againDeadline!: Deadline;
  #failures = 0;
  #storedAtMs = -Infinity;
  readonly operations = [
    handler(READ, (caller, payload) => this.#advance(caller, payload)),
    handler(READ_MARKS, () => {
      const marks = this.#room.read(() => this.#marks.furthest(READ_MARKS_SHOWN_MAX));
      return marks ? { ok: true, marks } : refuse("INTERNAL", "The marks could not be read.");
    }),
  ];

  /** @param read called after each `read`, with the user's mark until then, or the new one if that is lower; without it where the mark stays */
  constructor(room: Room, read: (before: number | undefined) => void) {
    this.#room = room;
    this.#read = read;
    this.#marks = new ReadMarks(room.state);
  }

  start(): void {
    const { deadline, throttled } = this.#room;
    this.#throttle = throttled("read", { windowMs: () => READ_SEND_WINDOW_MS }, () => this.#send());
    this.#storeDeadline = deadline("read-store", (nowMs) => this.#storeOfGone(nowMs));
    this.#againDeadline = deadline("read-store-again", (nowMs) => this.#storeOfGone(nowMs), { keepsAwake: true });
  }

  /** READ-3. */
  welcome(client: Connection): ReadingWelcome {
    const { lastSeq, firstSeq } = this.#room.log;
    const { user } = client.peek();
    const readSeq = this.#marks.get(user);
    const unread = lastSeq - Math.max(readSeq, firstSeq - 1);
    return { readSeq, unread, ...(this.#marks.isSetBack(user) && { keptUnread: true }) };
  }

  /** How far users have read; 0 for those who have only been here. */
  get marks(): Pick<ReadMarks, "entries" | "get"> {
    return this.#marks;
  }

  /**
   * READ-6: users who leave and have read nothing. The room goes on being one of theirs in the directory. In a crowd only those count who
   * read.
   */
  noteJoined(left: readonly string[]): void {
    if (left.length === 0 || this.#room.members.isLarge) return;
    const isNew = left.filter((user) => this.#marks.join(user)).length > 0;
    if (isNew) this.#storeDeadline.pull(this.#room.now() + READ_STORE_GATHER_MS);
  }

  onRestore(client: Client): void {
    const seq = READ_SEQ.get(client);
    if (seq !== undefined) this.#marks.restore({ user: client.peek().user, seq });
  }

  onDisconnect(client: Client): void {
    if (READ_SEQ.get(client) === undefined || !this.#marks.isUnsaved(client.peek().user)) return;
    this.#storeDeadline.pull(this.#room.now() + READ_STORE_GATHER_MS);
  }

  /** READ-1. */
  #advance({ user, client }: Caller, { seq, back }: ReadPayload): Answer<object> {
    if (!client) return refuse("FORBIDDEN", "Only a connection reads.");
    const seenSeq = this.#room.seenSeq();
    if (seq > seenSeq) return refuse("INVALID_PAYLOAD", `seq: the newest message is ${seenSeq}`);
    const before = this.#marks.get(user);
    if (back && seq < before) return this.#goBack(user, seq);
    const isFurther = this.#marks.advance({ user, seq });
    this.#read(isFurther ? before : undefined);
    if (!isFurther) return { ok: true };
    READ_SEQ.set(client, seq);
    const nowMs = this.#room.now();
    if (hasPassed(this.#storedAtMs, READ_STORE_INTERVAL_MS, nowMs)) this.#store(nowMs);
    this.#unsent.add(user);
    this.#throttle.request(nowMs);
    return { ok: true };
  }

  /**
   * READ-7. Stored at once: after sleep the further one of the stored mark and those on connections counts. Sent at once: the user may read on
   * in the next moment, and their devices take what comes last.
   */
  #goBack(user: string, seq: number): Answer<object> {
    const { everyone, channelsOf, clientsOf, now } = this.#room;
    this.#marks.goBack({ user, seq });
    this.#read(seq);
    for (const client of clientsOf(user)) if ((READ_SEQ.get(client) ?? 0) > seq) READ_SEQ.set(client, seq);
    this.#store(now());
    this.#unsent.delete(user);
    everyone.to(channelsOf(user)).emit("read", { user, seq, back: true });
    return { ok: true };
  }

  #store(nowMs: number): void {
    this.#storedAtMs = nowMs;
    try {
      this.#marks.save();
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      this.#room.reportProblem("read marks could not be stored", error);
    }
  }

  /** Only the memory has marks of users who have left, so a failed write is tried again. */
  #storeOfGone(nowMs: number): void {
    this.#store(nowMs);
    const mayTry = this.#failures > 0 && this.#failures < STORE_TRIES_MAX;
    if (mayTry) this.#againDeadline.set(nowMs + READ_STORE_INTERVAL_MS);
  }

  #send(): void {
    // In a large room a mark goes to its user's own connections only: the frames would grow with the square of the members.
    const isLarge = this.#room.members.count > this.#room.settings.crowdMembers / 2;
    for (const user of this.#unsent) {
      const { everyone } = this.#room;
      const audience = isLarge ? everyone.to(this.#room.channelsOf(user)) : everyone;
      audience.emit("read", { user, seq: this.#marks.get(user) });
    }
    this.#unsent.clear();
  }
}
