// Deletes the files of deleted messages, of deleted rooms, and of messages that the room no longer keeps (FILE-5, FILE-6). Keys
// sort by age, so the oldest files are listed first and the room needs no list of uploads. One deadline runs both; the keys left to delete
// are stored, so they outlive sleep and crashes, and are tried again where the storage of files fails.
import { filesOf, parseFileKey } from "../../protocol/file-key.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { POST_WINDOW_MS } from "./attachments.ts";
import type { Feature, StoreAfterErase } from "../room/feature.ts";
import type { Room } from "../room/room.ts";

/** Keys in one call to the storage of files, at most. */
export const FILES_AT_ONCE = 1000;

/** From a failure of the storage of files to the next try, which costs a row; or when the room wakes. */
export const SWEEP_RETRY_MS = 600_000;

/** From one sweep to the next, at least. */
export const SWEEP_EVERY_MS_MIN = 3_600_000;

/** From the sweep that found no file left to one more: an upload may have been under way. */
const LAST_SWEEP_MS = 86_400_000;

/** Storage of files by key. Implemented by durable/create-chat.ts. */
export interface FileStore {
  /** Keys with that beginning behind `startAfter`, in order; `FILES_AT_ONCE` at most. */
  list(prefix: string, startAfter?: string): Promise<{ readonly keys: readonly string[]; readonly isEnd: boolean }>;
  /** @param keys `FILES_AT_ONCE` at most; those that are not there count as deleted */
  delete(keys: readonly string[]): Promise<void>;
}

/** The next sweep of the room's files; there is a plan while there may be files. */
interface Plan {
  /** Absent in a plan that the room left when it was deleted: it did not know the epoch of its next log. */
  readonly epoch?: string;
  readonly atMs: number;
  /** Whether files of the room's earlier logs are swept, too. */
  readonly isAll: boolean;
  /** The sweep before found no file left. */
  readonly isLast?: true;
}

const PLAN = "file-sweep";
const DISCARDED = "file-discarded:";

export class FileSweep implements Feature {
  readonly #room: Room;
  readonly #store: FileStore | undefined;
  readonly #keptMs: number;
  #deadline!: Deadline;
  #isWorking = false;
  /** The room was deleted: its next log's sweep deletes the files that are left. */
  #isOver = false;
  /** The key behind which the sweep under way goes on, and the upload time of the oldest file that it left so far. */
  #startAfter: string | undefined;
  #oldestMs: number | undefined;
  /** The oldest place of the log at the last sweep. */
  #sweptSeq = 0;

  /**
   * @param store absent where the deployment has none: nothing is uploaded then
   * @param keptMs how long a message may be kept at most
   */
  constructor(room: Room, store: FileStore | undefined, keptMs: number) {
    this.#room = room;
    this.#store = store;
    this.#keptMs = keptMs;
  }

  start(): void {
    this.#deadline = this.#room.deadline("files", () => void this.#work());
    if (!this.#store) return;
    this.#sweptSeq = this.#room.log.firstSeq;
    const plan = this.#plan;
    if (plan && plan.epoch === undefined) this.#keepPlan(this.#room.now(), true);
    this.#schedule();
  }

  /** A file is about to be uploaded: writes a row, once for each log of a room. @returns false where that failed */
  expect(): boolean {
    const plan = this.#plan;
    if (plan && !plan.isLast) return true;
    return this.#keepPlan(this.#room.now() + this.#keptInAllMs, true);
  }

  /** The message of the file is deleted in this turn; both deletions are stored, or neither is. */
  discard(key: string): void {
    if (!this.#store) return;
    this.#attempt("the deletion of a file could not be planned", () => this.#room.state.put(DISCARDED + key, true));
    this.#schedule();
  }

  /** Whether a file waits for its deletion because its message was deleted. */
  isDiscarded(key: string): boolean {
    return this.#store !== undefined && this.#room.state.get(DISCARDED + key) !== undefined;
  }

  /** FILE-6: leaves a plan with which the room's next log deletes all files of earlier ones. */
  onErase(): StoreAfterErase | undefined {
    this.#isOver = true;
    if (!this.#store || !this.#plan) return undefined;
    return () => this.#room.state.put(PLAN, { atMs: this.#room.now(), isAll: true } satisfies Plan);
  }

  /** The log dropped messages since the last sweep: the next one comes sooner than their age asks for. */
  onTrimmed(): void {
    if (this.#deadline.atMs === undefined || this.#room.log.firstSeq === this.#sweptSeq) return;
    this.#sweptSeq = this.#room.log.firstSeq;
    const soonMs = this.#room.now() + SWEEP_EVERY_MS_MIN;
    const plan = this.#plan;
    if (plan && plan.atMs > soonMs) this.#keepPlan(soonMs, plan.isAll);
  }

  /** From the upload of a file to the time at which no message can refer to it any more. */
  get #keptInAllMs(): number {
    return this.#keptMs + POST_WINDOW_MS;
  }

  get #plan(): Plan | undefined {
    return this.#room.state.get(PLAN) as Plan | undefined;
  }

  #keepPlan(atMs: number, isAll: boolean, isLast = false): boolean {
    const plan: Plan = { epoch: this.#room.log.epoch, atMs, isAll, ...(isLast && { isLast }) };
    const isKept = this.#attempt("the next sweep of files could not be planned", () =>
      this.#room.state.put(PLAN, plan),
    );
    if (isKept) this.#deadline.pull(atMs);
    return isKept;
  }

  #attempt(problem: string, work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      this.#room.reportProblem(problem, error);
      return false;
    }
  }

  #schedule(): void {
    if (!this.#store) return;
    const [discarded] = this.#room.state.list({ prefix: DISCARDED, limit: 1 });
    const plan = this.#plan;
    if (discarded) this.#deadline.set(this.#room.now());
    else if (plan) this.#deadline.set(plan.atMs);
    else this.#deadline.clear();
  }

  async #work(): Promise<void> {
    if (this.#isWorking || !this.#store) return;
    this.#isWorking = true;
    try {
      await this.#deleteSome(this.#store);
      this.#isWorking = false;
      this.#room.turn(() => this.#schedule());
    } catch (error) {
      this.#isWorking = false;
      this.#room.turn(() => {
        this.#room.reportProblem("files could not be deleted", error);
        this.#deadline.set(this.#room.now() + SWEEP_RETRY_MS);
      });
    }
  }

  /** Deletes a bounded number of files; the deadline comes again for the next. */
  async #deleteSome(store: FileStore): Promise<void> {
    const entries = [...this.#room.state.list({ prefix: DISCARDED, limit: FILES_AT_ONCE })];
    if (entries.length > 0) {
      await store.delete(entries.map(([entry]) => entry.slice(DISCARDED.length)));
      return this.#room.turn(() => entries.forEach(([entry]) => this.#room.state.delete(entry)));
    }
    const plan = this.#plan;
    if (plan && plan.atMs <= this.#room.now()) await this.#sweep(store, plan);
  }

  async #sweep(store: FileStore, { isAll }: Plan): Promise<void> {
    const { name, log } = this.#room;
    const { epoch } = log;
    const beforeMs = this.#room.turn(() => {
      this.#room.catchUp();
      const page = this.#room.read((readable) => readable.page({ after: 0, limit: 1 }));
      if (!page) throw new Error("the oldest message could not be read");
      // No stored message can have a file from before.
      return (page.messages[0]?.timestamp ?? this.#room.now()) - POST_WINDOW_MS;
    });
    const { keys, isEnd } = await store.list(filesOf(name, isAll ? undefined : epoch), this.#startAfter);
    if (this.#isOver) return;
    const isOld = (key: string): boolean => {
      const file = parseFileKey(key);
      return file?.epoch !== epoch || file.uploadedMs < beforeMs;
    };
    const old = keys.filter(isOld);
    if (old.length > 0) await store.delete(old);
    const oldestLeft = keys.find((key) => !isOld(key));
    this.#oldestMs ??= oldestLeft === undefined ? undefined : parseFileKey(oldestLeft)!.uploadedMs;
    this.#startAfter = keys.at(-1);
    // The keys of one log are in the order of their age: behind one that stays, all stay.
    if (isEnd || (!isAll && oldestLeft !== undefined)) this.#room.turn(() => this.#planNext());
  }

  #planNext(): void {
    const plan = this.#plan;
    const oldestMs = this.#oldestMs;
    this.#startAfter = this.#oldestMs = undefined;
    const nowMs = this.#room.now();
    // The room was deleted meanwhile: its next log has a plan of its own.
    if (plan?.epoch !== this.#room.log.epoch) return;
    if (oldestMs !== undefined) {
      this.#keepPlan(Math.max(oldestMs + this.#keptInAllMs, nowMs + SWEEP_EVERY_MS_MIN), false);
    } else if (plan.isLast) this.#room.state.delete(PLAN);
    else this.#keepPlan(nowMs + LAST_SWEEP_MS, true, true);
  }
}
