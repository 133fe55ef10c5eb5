// Tells the operator's own server what happens in the room, by way of a queue: HOOK-1 to HOOK-5. What is to be told
// follows from what is stored and who is there, compared with how far the queue has taken it: nothing waits in memory
// that a crash could take.
import type { WebhookEvent } from "../../protocol/webhook-events.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { Attendance, type AttendanceMark, type Telling } from "./attendance.ts";
import { UnreadableBatch } from "../log/batch-format.ts";
import type { Members } from "../room/members.ts";
import { PendingChanges } from "../log/pending-changes.ts";
import { readableAfter } from "../room/readable.ts";
import type { Feature, KeptChange, Room } from "../room/room.ts";
import { changed, posted, WEBHOOK_EVENTS_MAX, WebhookBatch } from "./webhook-batch.ts";

/** Hands events to the queue: resolves once it has them, rejects where it does not take them. */
export type Deliver = (events: readonly WebhookEvent[]) => Promise<void>;

/** A quiet room tells at once; a busy one gathers for this long (HOOK-2). */
export const WEBHOOK_WINDOW_MS = 1000;
/** A queue that has not answered by then has failed (HOOK-3). */
export const WEBHOOK_SEND_MS_MAX = 10_000;
/** After a failure it is tried again: the first time after this, then after twice as long each time, … */
export const WEBHOOK_RETRY_MS = 1000;
/** … up to this. */
export const WEBHOOK_RETRY_MS_MAX = 300_000;

/** What a deleted room still has to tell is handed over at once and from memory: so many batches, and no more. */
const LAST_BATCHES_MAX = 50;

const STATE_KEY = "webhooks";

/** How far the room has told what happens: one row, written once the queue has taken a batch. */
interface Mark extends AttendanceMark {
  /** The log that `seq` counts in. */
  readonly epoch: string;
  /** Messages up to this place are told. */
  readonly seq: number;
  /** No change that is still to be told has a lower `rev`. */
  readonly changedFrom?: number | undefined;
  /** Failures in a row, and when to try again. */
  readonly failures?: number | undefined;
  readonly retryAtMs?: number | undefined;
}

export class Webhooks implements Feature {
  readonly #room: Room;
  readonly #members: Members;
  readonly #deliver: Deliver;
  /** For what is told soon: the room stays awake for it. */
  #soon!: Deadline;
  /** For another try, and for the end of a grace. */
  #later!: Deadline;
  #attendance!: Attendance;
  #changes!: PendingChanges;
  /** What is stored; and as text, to see whether it would change. */
  #mark!: Mark;
  #stored = "";
  #seq = 0;
  #failures = 0;
  #retryAtMs: number | undefined;
  #ranAtMs = -Infinity;
  /** Names the try that is under way. */
  #sending: object | undefined;
  #wasAsleep = false;
  #isOver = false;

  constructor(room: Room, members: Members, deliver: Deliver) {
    this.#room = room;
    this.#members = members;
    this.#deliver = deliver;
  }

  start(): void {
    const { deadline, log, now, state } = this.#room;
    this.#soon = deadline("webhooks", (nowMs) => this.#run(nowMs), { keepsAwake: true });
    this.#later = deadline("webhooks-later", (nowMs) => this.#resume(nowMs));
    const known = state.get(STATE_KEY) as Mark | undefined;
    const isKnown = known !== undefined && known.epoch === log.epoch;
    // Where nothing was ever told, what is in the log already is no news. Nobody has to be asked for the log's name then: a
    // room that is only looked at stores nothing (API-13).
    this.#mark = isKnown ? known : { epoch: "", seq: log.lastSeq };
    if (isKnown) this.#stored = JSON.stringify(known);
    const { seq, changedFrom, failures = 0, retryAtMs } = this.#mark;
    this.#seq = seq;
    this.#failures = failures;
    if (retryAtMs !== undefined) this.#retryAtMs = Math.min(retryAtMs, now() + WEBHOOK_RETRY_MS_MAX);
    this.#changes = new PendingChanges(log, changedFrom);
    this.#attendance = new Attendance(this.#room, this.#members, this.#mark, () => this.#schedule());
    this.#schedule();
  }

  onRestore(): void {
    if (this.#wasAsleep) return;
    this.#wasAsleep = true;
    this.#attendance.awake(this.#mark, this.#failures === 0);
    this.#schedule();
  }

  onPosted(): void {
    // Together with the first message, lest the next life takes that for old.
    if (this.#stored === "") this.#store();
    this.#schedule();
  }

  onChanging({ seq, rev, change }: KeptChange): void {
    const isNews = change.deletedBy !== undefined || change.edits.at(-1)?.timestamp === rev;
    if (!isNews) return;
    this.#changes.note({ seq, rev });
    this.#schedule();
    // Where this cannot be stored the message does not change: the next life has to know where to look for changes.
    this.#write();
  }

  /** HOOK-5: the last word on a room that is deleted. Nobody can try again. */
  onErase(): undefined {
    this.#isOver = true;
    this.#soon.clear();
    this.#later.clear();
    this.#attendance.endGrace();
    for (let left = LAST_BATCHES_MAX; left > 0; left--) {
      const telling = this.#room.read(() => this.#collect(this.#room.now()));
      if (!telling || telling.batch.events.length === 0) return;
      this.#deliver(telling.batch.events).catch((error) => this.#room.report("last webhook events were lost", error));
      for (const note of [...telling.before, ...telling.after]) note();
    }
    this.#room.report("a deleted room had more to tell than it may at once", new Error(`${LAST_BATCHES_MAX} batches`));
  }

  // ---- when ------------------------------------------------------------------------------------------------

  get #isBehind(): boolean {
    return this.#room.seenSeq() > this.#seq || this.#changes.from !== undefined || this.#attendance.hasNoticed;
  }

  #schedule(): void {
    if (this.#sending || this.#isOver) return;
    if (this.#retryAtMs !== undefined) {
      this.#soon.clear();
      return this.#later.set(this.#retryAtMs);
    }
    const nowMs = this.#room.now();
    // No later than a window from now, also where the clock was set back since the last run.
    const dueMs = Math.min(this.#ranAtMs, nowMs) + WEBHOOK_WINDOW_MS;
    if (this.#isBehind) this.#soon.pull(Math.max(nowMs, dueMs));
    const { graceEndsMs } = this.#attendance;
    if (graceEndsMs === undefined) this.#later.clear();
    else this.#later.set(graceEndsMs);
  }

  #run(nowMs: number): void {
    if (this.#sending) this.#fail(new Error(`the queue has not answered for ${WEBHOOK_SEND_MS_MAX} ms`));
    else this.#tell(nowMs);
  }

  /** The end of a grace, or of the wait after a failure. */
  #resume(nowMs: number): void {
    if (this.#sending) return;
    this.#retryAtMs = undefined;
    this.#attendance.look();
    this.#tell(nowMs);
  }

  // ---- what ------------------------------------------------------------------------------------------------

  #tell(nowMs: number): void {
    this.#room.catchUp();
    const telling = this.#room.read(() => this.#collect(nowMs));
    if (!telling) return this.#fail(new Error("the log could not be read"));
    const { batch, before } = telling;
    this.#ranAtMs = batch.isFull ? -Infinity : nowMs;
    if (batch.events.length === 0) return this.#settle(telling);
    if (before.length > 0) this.#note(before);
    const sending = (this.#sending = {});
    const end = (run: () => void): void =>
      this.#room.turn(() => {
        // A try that was given up may end after all; what it told is told again.
        if (this.#sending === sending && !this.#isOver) run();
      });
    this.#soon.set(nowMs + WEBHOOK_SEND_MS_MAX);
    this.#deliver(batch.events).then(
      () => end(() => this.#settle(telling)),
      (error: unknown) => end(() => this.#fail(error)),
    );
  }

  #settle({ batch, after }: Telling): void {
    this.#sending = undefined;
    this.#soon.clear();
    this.#failures = 0;
    for (const note of after) note();
    if (batch.events.length > 0 || this.#mark.failures || this.#mark.changedFrom !== this.#changes.from) this.#store();
    this.#schedule();
  }

  #fail(error: unknown): void {
    this.#sending = undefined;
    const delayMs = Math.min(WEBHOOK_RETRY_MS * 2 ** this.#failures, WEBHOOK_RETRY_MS_MAX);
    this.#failures++;
    this.#retryAtMs = this.#room.now() + delayMs;
    this.#room.report(`webhook events could not be queued; next try in ${delayMs / 1000} s`, error);
    this.#store();
    this.#schedule();
  }

  #collect(nowMs: number): Telling {
    const telling: Telling = { batch: new WebhookBatch(), before: [], after: [] };
    this.#attendance.collectArrivals(telling);
    if (!telling.batch.isFull) this.#collectPosted(telling);
    if (!telling.batch.isFull) this.#collectChanged(telling);
    this.#attendance.collectDepartures(telling, nowMs);
    return telling;
  }

  #collectPosted({ batch, after }: Telling): void {
    let seq = this.#seq;
    const problem = "messages that cannot be read are not told to the webhook";
    for (const message of readableAfter(this.#room, seq, problem)) {
      if (!batch.add(posted(message))) break;
      ({ seq } = message);
    }
    // Behind the last message there may be empty places.
    const toldSeq = batch.isFull ? seq : this.#room.log.lastSeq;
    after.push(() => (this.#seq = toldSeq));
  }

  #collectChanged({ batch, after }: Telling): void {
    if (this.#changes.from === undefined) return;
    const taken = this.#changes.take(WEBHOOK_EVENTS_MAX);
    let count = 0;
    for (const { seq, rev } of taken.changed) {
      const event = this.#changedEvent(seq, rev, taken.sinceRev);
      if (event && !batch.add(event)) break;
      count++;
    }
    after.push(() => this.#changes.settle(taken, count));
  }

  #changedEvent(seq: number, rev: number, sinceRev: number): WebhookEvent | undefined {
    try {
      const kept = this.#room.log.find(seq);
      return kept && changed(kept, rev, sinceRev);
    } catch (error) {
      if (!(error instanceof UnreadableBatch)) throw error;
      this.#room.report("a change that cannot be read is not told to the webhook", error);
      return undefined;
    }
  }

  // ---- how far ---------------------------------------------------------------------------------------------

  #note(notes: ReadonlyArray<() => void>): void {
    for (const note of notes) note();
    this.#store();
  }

  #store(): void {
    try {
      this.#write();
    } catch (error) {
      // What is told is told again then.
      this.#room.report("how far the webhook was told could not be stored", error);
    }
  }

  /** @throws whatever the storage throws */
  #write(): void {
    this.#attendance.store();
    const mark: Mark = {
      epoch: this.#room.log.epoch,
      seq: this.#seq,
      changedFrom: this.#changes.from,
      ...this.#attendance.mark,
      failures: this.#failures || undefined,
      retryAtMs: this.#retryAtMs,
    };
    if (JSON.stringify(mark) === this.#stored) return;
    this.#room.state.put(STATE_KEY, mark);
    this.#stored = JSON.stringify(mark);
    this.#mark = mark;
  }
}
