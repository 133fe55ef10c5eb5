// Deletes the files of deleted messages, of deleted rooms, of messages that the room no longer keeps, and those that were not posted
// (FILE-5, FILE-6). Keys sort by age, so the oldest files are listed first and the room needs no list of uploads. One deadline runs all; the
// keys left to delete are stored, so they outlive sleep and crashes, and are tried again where the storage of files fails.
import type { StoredFile } from "../../protocol/chat-events.ts";
import { filesOf, filesSince, parseFileKey } from "../../protocol/file-key.ts";
import { POST_WINDOW_MS } from "../../protocol/limits.ts";
import { storedFilesOf } from "../../protocol/message.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { seqAtTime } from "../log/seq-at-time.ts";
import type { RoomPart, StoreAfterErase } from "../room/room-part.ts";
import type { Room } from "../room/room.ts";

/** Keys in one call to the storage of files, at most. */
export const FILES_AT_ONCE = 1000;

/** From a failure of the storage of files to the next try, which costs a row; or when the room wakes. */
export const SWEEP_RETRY_MS = 600_000;

/** From one sweep to the next, at least. */
export const SWEEP_EVERY_MS_MIN = 3_600_000;

/** From one search for files that were not posted to the next, at least. */
export const UNPOSTED_EVERY_MS_MIN = 900_000;

/** A file that was not posted is deleted so long after its upload, at the earliest: a post in time may take a while to be stored. */
export const UNPOSTED_MS = POST_WINDOW_MS + 60_000;

/** Messages that one turn compares with the files. */
const MESSAGES_AT_ONCE = 5000;

/** From the sweep that found no file left to one more: an upload may have been under way. */
const LAST_SWEEP_MS = 86_400_000;

export interface ListedFiles {
  readonly keys: readonly string[];
  /** Bytes of each. */
  readonly sizes?: readonly number[];
  readonly isEnd: boolean;
}

/** Storage of files by key. Implemented by src/objects/create-chat.ts. */
export interface FileStore {
  /** Keys with that beginning behind `startAfter`, in order; `FILES_AT_ONCE` at most. */
  list(prefix: string, startAfter?: string): Promise<ListedFiles>;
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
  /** The next search for files that were not posted, among those uploaded since `fromMs`; absent where all were. */
  readonly unposted?: Unposted;
}

interface Unposted {
  readonly fromMs: number;
  readonly atMs: number;
}

/** A search under way: files that cannot be posted any more, and are in no message up to `seq`. */
interface Search {
  readonly sizes: Map<string, number>;
  readonly rest: Pick<Unposted, "fromMs"> | undefined;
  seq: number;
}

const PLAN = "file-sweep";
const DISCARDED = "file-discarded:";

export class FileSweep implements RoomPart {
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
  #search: Search | undefined;
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
    if (plan && plan.epoch === undefined) this.#keepPlan({ atMs: this.#room.now(), isAll: true });
    this.#schedule();
  }

  /** A file is about to be uploaded: writes a row, unless a search for unposted files is planned. @returns false where that failed */
  expect(): boolean {
    const plan = this.#plan;
    if (plan && !plan.isLast && plan.unposted) return true;
    const nowMs = this.#room.now();
    const unposted = { fromMs: nowMs, atMs: nowMs + UNPOSTED_MS };
    return plan && !plan.isLast
      ? this.#keepPlan({ ...plan, unposted })
      : this.#keepPlan({ atMs: nowMs + this.#keptInAllMs, isAll: true, unposted });
  }

  /** The message of the files is deleted in this turn; all deletions are stored, or none is. */
  discard(files: readonly StoredFile[]): void {
    if (!this.#store || files.length === 0) return;
    this.#attempt("the deletion of a file could not be planned", () => {
      for (const { key, size } of files) this.#room.state.put(DISCARDED + key, size);
    });
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
  onTrimmed(firstSeq: number): void {
    if (this.#deadline.atMs === undefined || firstSeq === this.#sweptSeq) return;
    this.#sweptSeq = firstSeq;
    const soonMs = this.#room.now() + SWEEP_EVERY_MS_MIN;
    const plan = this.#plan;
    if (plan && plan.atMs > soonMs) this.#keepPlan({ ...plan, atMs: soonMs });
  }

  /** From the upload of a file to the time at which no message can refer to it any more. */
  get #keptInAllMs(): number {
    return this.#keptMs + POST_WINDOW_MS;
  }

  get #plan(): Plan | undefined {
    return this.#room.state.get(PLAN) as Plan | undefined;
  }

  #keepPlan(given: Omit<Plan, "epoch">): boolean {
    const plan: Plan = { ...given, epoch: this.#room.log.epoch };
    const isKept = this.#attempt("the next sweep of files could not be planned", () =>
      this.#room.state.put(PLAN, plan),
    );
    if (isKept) this.#deadline.pull(dueMsOf(plan));
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
    else if (plan) this.#deadline.set(this.#search ? this.#room.now() : dueMsOf(plan));
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
      // Entries of an earlier release are `true`.
      const sizes = entries.map(([entry, size]) => [entry.slice(DISCARDED.length), Number(size)] as const);
      await this.#delete(store, new Map(sizes));
      return this.#room.turn(() => entries.forEach(([entry]) => this.#room.state.delete(entry)));
    }
    const plan = this.#plan;
    if (plan?.unposted && plan.unposted.atMs <= this.#room.now()) return this.#sweepUnposted(store, plan.unposted);
    if (plan && plan.atMs <= this.#room.now()) await this.#sweep(store, plan);
  }

  /** @param sizes bytes by key */
  async #delete(store: FileStore, sizes: ReadonlyMap<string, number>): Promise<void> {
    if (sizes.size === 0) return;
    await store.delete([...sizes.keys()]);
    this.#room.meter.count(
      "file_bytes:deleted",
      [...sizes.values()].reduce((sum, size) => sum + size, 0),
    );
  }

  /** Deletes files that can't be posted any more and are in no message. A long log takes several turns. */
  async #sweepUnposted(store: FileStore, { fromMs }: Unposted): Promise<void> {
    this.#search ??= await this.#findOld(store, fromMs);
    const search = this.#search;
    if (this.#isOver) return;
    if (!this.#room.turn(() => this.#compare(search))) return;
    await this.#delete(store, search.sizes);
    this.#search = undefined;
    this.#room.turn(() => {
      const plan = this.#plan;
      if (plan?.epoch !== this.#room.log.epoch) return;
      const { unposted: _done, ...left } = plan;
      const { fromMs = 0 } = search.rest ?? {};
      const atMs = Math.max(fromMs + UNPOSTED_MS, this.#room.now() + UNPOSTED_EVERY_MS_MIN);
      this.#keepPlan({ ...left, ...(search.rest && { unposted: { fromMs, atMs } }) });
    });
  }

  async #findOld(store: FileStore, fromMs: number): Promise<Search> {
    const { name, log } = this.#room;
    const { keys, sizes, isEnd } = await store.list(filesOf(name, log.epoch), filesSince(name, log.epoch, fromMs));
    const lastMs = this.#room.now() - UNPOSTED_MS;
    const uploaded = keys.map((key, at) => ({ key, size: sizes?.[at] ?? 0, ms: parseFileKey(key)?.uploadedMs ?? 0 }));
    const young = uploaded.find(({ ms }) => ms > lastMs) ?? (isEnd ? undefined : uploaded.at(-1));
    const old = uploaded.filter(({ ms }) => ms <= lastMs);
    return {
      sizes: new Map(old.map(({ key, size }) => [key, size])),
      rest: young && { fromMs: young.ms },
      // A clock that was set back since then must not hide the message.
      seq: old.length === 0 ? 0 : seqAtTime(log, old[0]!.ms - POST_WINDOW_MS) - 1,
    };
  }

  /** Takes files that are in a message off the search. @returns whether that is over */
  #compare(search: Search): boolean {
    this.#room.catchUp();
    let left = MESSAGES_AT_ONCE;
    for (const message of search.sizes.size > 0 ? this.#room.log.ascending(search.seq) : []) {
      search.seq = message.seq;
      for (const { key } of storedFilesOf(message)) search.sizes.delete(key);
      if (search.sizes.size === 0) return true;
      if (--left === 0) return false;
    }
    return true;
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
    const { keys, sizes, isEnd } = await store.list(filesOf(name, isAll ? undefined : epoch), this.#startAfter);
    if (this.#isOver) return;
    const isOld = (key: string): boolean => {
      const file = parseFileKey(key);
      return file?.epoch !== epoch || file.uploadedMs < beforeMs;
    };
    const old = keys.flatMap((key, at) => (isOld(key) ? [[key, sizes?.[at] ?? 0] as const] : []));
    await this.#delete(store, new Map(old));
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
      const atMs = Math.max(oldestMs + this.#keptInAllMs, nowMs + SWEEP_EVERY_MS_MIN);
      this.#keepPlan({ ...plan, atMs, isAll: false });
    } else if (plan.isLast && !plan.unposted) this.#room.state.delete(PLAN);
    else this.#keepPlan({ ...plan, atMs: nowMs + LAST_SWEEP_MS, isAll: true, isLast: true });
  }
}

const dueMsOf = ({ atMs, unposted }: Plan): number => Math.min(atMs, unposted?.atMs ?? Infinity);
