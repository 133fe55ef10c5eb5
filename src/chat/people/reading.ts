// How far everyone has read: marks that move forward only, told to the others in bursts and stored now and then.
// Between two writes a mark lives in the record of its connection, so sleep loses none, and a crash the last seconds:
// READ-4.
import { hasPassed } from "../../clock/has-passed.ts";
import type { ReadAnswer, ReadingWelcome, ReadMarksAnswer, ReadPayload } from "../../protocol/reading-events.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { refuse } from "../room/answers.ts";
import type { Members } from "../room/members.ts";
import { operation, type Caller } from "../room/operation.ts";
import { ThrottledRun } from "../../clock/throttle.ts";
import { ReadMarks } from "./read-marks.ts";
import { readMarksSchema, readSchema } from "../../protocol/schemas/reading-payloads.ts";
import type { Client, Feature, Room } from "../room/room.ts";
import { Slot } from "../room/slot.ts";

/** In a larger room marks are told to nobody but their user's own connections: they would grow with its square. */
export const READ_TOLD_MEMBERS_MAX = 100;

/** Marks are told at once in a quiet room, and at most this often in a busy one (READ-2). */
export const READ_TELL_WINDOW_MS = 1000;

/** Marks are stored at most this often while their users stay. */
export const READ_STORE_INTERVAL_MS = 5000;

/** After somebody went, for others who go at the same time to share the row. */
export const READ_STORE_GATHER_MS = 1000;

/** So often marks that could not be stored are stored again while somebody is gone who would have brought them through sleep. */
const STORE_TRIES_MAX = 12;

/** Marks in an answer to `read-marks` (READ-5). */
export const READ_MARKS_SHOWN_MAX = 100;

/** What the list takes from the bucket of requests: it looks at everybody's mark. */
export const READ_MARKS_COST = 10;

/** How far its user has read, as marked over the connection. */
const READ_SEQ = new Slot<number>("readSeq");

export class Reading implements Feature {
  readonly #room: Room;
  readonly #members: Members;
  readonly #marks: ReadMarks;
  /** Users whose marks moved since the others were told. */
  readonly #untold = new Set<string>();
  #throttle!: ThrottledRun;
  #storeDeadline!: Deadline;
  #againDeadline!: Deadline;
  #failures = 0;
  #storedAtMs = -Infinity;
  readonly operations = {
    read: operation(readSchema, (caller, payload, reply: (answer: ReadAnswer) => void) =>
      reply(this.#hear(caller, payload)),
    ),
    "read-marks": operation(
      readMarksSchema,
      (_caller, _payload, reply: (answer: ReadMarksAnswer) => void) => reply(this.#list()),
      () => READ_MARKS_COST,
    ),
  };

  constructor(room: Room, members: Members) {
    this.#room = room;
    this.#members = members;
    this.#marks = new ReadMarks(room.state);
  }

  start(): void {
    const { deadline } = this.#room;
    const tellDeadline = deadline("read", (nowMs) => this.#throttle.flush(nowMs));
    this.#throttle = new ThrottledRun(READ_TELL_WINDOW_MS, tellDeadline, () => this.#tell());
    this.#storeDeadline = deadline("read-store", (nowMs) => this.#storeForGone(nowMs));
    this.#againDeadline = deadline("read-store-again", (nowMs) => this.#storeForGone(nowMs), { keepsAwake: true });
  }

  /** READ-3. */
  welcome(client: Client): ReadingWelcome {
    const { lastSeq, firstSeq } = this.#room.log;
    const readSeq = this.#marks.get(client.peek().user);
    return { readSeq, unread: lastSeq - Math.max(readSeq, firstSeq - 1) };
  }

  /** How far a user has read. */
  seqOf(user: string): number {
    return this.#marks.get(user);
  }

  onRestore(client: Client): void {
    const seq = READ_SEQ.get(client);
    if (seq !== undefined) this.#marks.restore({ user: client.peek().user, seq });
  }

  onDisconnect(client: Client): void {
    if (READ_SEQ.get(client) === undefined || !this.#marks.isUnsaved(client.peek().user)) return;
    this.#storeDeadline.pull(this.#room.now() + READ_STORE_GATHER_MS);
  }

  /** READ-5. */
  #list(): ReadMarksAnswer {
    const marks = this.#room.read(() => this.#marks.furthest(READ_MARKS_SHOWN_MAX));
    return marks ? { ok: true, marks } : refuse("INTERNAL", "The marks could not be read.");
  }

  /** READ-1. */
  #hear({ user, client }: Caller, { seq }: ReadPayload): ReadAnswer {
    if (!client) return refuse("FORBIDDEN", "Only a connection reads.");
    const seenSeq = this.#room.seenSeq();
    if (seq > seenSeq) return refuse("INVALID_PAYLOAD", `seq: the newest message is ${seenSeq}`);
    if (!this.#marks.advance({ user, seq })) return { ok: true };
    READ_SEQ.set(client, seq);
    const nowMs = this.#room.now();
    if (hasPassed(this.#storedAtMs, READ_STORE_INTERVAL_MS, nowMs)) this.#store(nowMs);
    this.#untold.add(user);
    this.#throttle.request(nowMs);
    return { ok: true };
  }

  #store(nowMs: number): void {
    this.#storedAtMs = nowMs;
    try {
      this.#marks.save();
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      this.#room.report("read marks could not be stored", error);
    }
  }

  /** Whose users went, these marks are in memory only. */
  #storeForGone(nowMs: number): void {
    this.#store(nowMs);
    const mayTry = this.#failures > 0 && this.#failures < STORE_TRIES_MAX;
    if (mayTry) this.#againDeadline.set(nowMs + READ_STORE_INTERVAL_MS);
  }

  #tell(): void {
    const isLarge = this.#members.count > READ_TOLD_MEMBERS_MAX;
    for (const user of this.#untold) {
      const { everyone } = this.#room;
      const audience = isLarge ? everyone.to(this.#members.socketsOf(user)) : everyone;
      audience.emit("read", { user, seq: this.#marks.get(user) });
    }
    this.#untold.clear();
  }
}
