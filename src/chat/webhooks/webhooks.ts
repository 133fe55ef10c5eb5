// Tells the operator's server by way of a queue what happens in the room (HOOK-1 to HOOK-5): messages as the log has them, and who is
// there, each compared with a stored mark of what the queue has taken. So nothing waits in memory.
import type { Deadline } from "../../clock/deadlines.ts";
import { Throttle } from "../../clock/throttle.ts";
import type { WebhookEvent } from "../../protocol/webhook-events.ts";
import { Courier, type Collected, type Retry } from "../room/courier.ts";
import type { Feature, KeptChange } from "../room/feature.ts";
import type { Room } from "../room/room.ts";
import { MessageFeed, type MessageMark } from "./message-feed.ts";
import { PresenceFeed, type PresenceMark } from "./presence-feed.ts";
import { WebhookBatch, type Parcel } from "./webhook-batch.ts";

/** Hands events to the queue. Resolves once it has them, rejects where it does not take them. */
export type Deliver = (events: readonly WebhookEvent[]) => Promise<void>;

/** A busy room gathers events for this long (HOOK-2). */
export const WEBHOOK_WINDOW_MS = 1000;
/** A queue without an answer has failed after this (HOOK-3). */
export const WEBHOOK_SEND_MS_MAX = 10_000;
/** Doubled with each further failure. */
export const WEBHOOK_RETRY_MS = { first: 1000, max: 300_000 };

/** A room that is deleted hands over at most so many batches, at once and from memory. */
const LAST_BATCHES_MAX = 50;

const STATE_KEY = "webhooks";

/** One row, written once the queue has taken a batch. */
interface Mark extends MessageMark, PresenceMark {
  /** The log that `seq` counts in. */
  readonly epoch: string;
  readonly retry?: Retry | undefined;
}

export class Webhooks implements Feature {
  readonly #room: Room;
  readonly #deliver: Deliver;
  readonly #emptyGraceMs: number;
  /** For what is sent soon: the room stays awake for it. */
  #soon!: Deadline;
  /** For another try, and for the end of a grace. */
  #later!: Deadline;
  #messages!: MessageFeed;
  #presence!: PresenceFeed;
  #courier!: Courier<Parcel, void>;
  /** As stored; and as text, to see whether it has changed. */
  #mark!: Mark;
  #stored = "";
  #wasAsleep = false;
  #isOver = false;

  /** @param emptyGraceMs a room counts as vacated this long after its last member went */
  constructor(room: Room, deliver: Deliver, emptyGraceMs: number) {
    this.#room = room;
    this.#deliver = deliver;
    this.#emptyGraceMs = emptyGraceMs;
  }

  start(): void {
    const { deadline, log, state } = this.#room;
    this.#soon = deadline("webhooks", (nowMs) => this.#courier.run(nowMs), { keepsAwake: true });
    this.#later = deadline("webhooks-later", (nowMs) => this.#runLater(nowMs));
    const known = state.get(STATE_KEY) as Mark | undefined;
    const isKnown = known !== undefined && known.epoch === log.epoch;
    // A room that never sent anything begins with the next event. Its log is not asked for its name: that would store one (API-13).
    this.#mark = isKnown ? known : { epoch: "", seq: log.lastSeq };
    if (isKnown) this.#stored = JSON.stringify(known);
    this.#messages = new MessageFeed(this.#room, this.#mark);
    this.#presence = new PresenceFeed(this.#room, this.#mark, this.#emptyGraceMs, () => this.#request());
    this.#courier = this.#makeCourier();
    if (this.#mark.retry) this.#courier.restore(this.#mark.retry);
    this.#request();
  }

  onRestore(): void {
    if (this.#wasAsleep) return;
    this.#wasAsleep = true;
    this.#presence.awake(this.#courier.failures === 0);
    this.#request();
  }

  onPosted(): void {
    // Stored together with the first message: without a mark the next life would begin behind it.
    if (this.#stored === "") this.#store();
    this.#request();
  }

  onChanging(changing: KeptChange): void {
    if (!this.#messages.note(changing)) return;
    this.#request();
    // Throws where it cannot be stored, and the message does not change: the next life has to know from where to look for changes.
    this.#write();
  }

  /** HOOK-5: sends what is left of a room that is deleted, once. */
  onErase(): undefined {
    this.#isOver = true;
    this.#courier.stop();
    this.#presence.endGrace();
    for (let left = LAST_BATCHES_MAX; left > 0; left--) {
      const parcel = this.#room.read(() => this.#pack(this.#room.now()));
      if (!parcel || parcel.batch.events.length === 0) return;
      this.#deliver(parcel.batch.events).catch((error) => this.#room.report("last webhook events were lost", error));
      for (const note of [...parcel.before, ...parcel.after]) note();
    }
    this.#room.report("a deleted room had more to tell than it may at once", new Error(`${LAST_BATCHES_MAX} batches`));
  }

  // ---- when ------------------------------------------------------------------------------------------------

  #request(): void {
    this.#courier.request(this.#room.now());
    this.#schedule();
  }

  /** The end of a grace, or of the wait after a failure. */
  #runLater(nowMs: number): void {
    if (this.#courier.state.is !== "retrying") this.#presence.endGrace();
    this.#courier.request(nowMs);
    this.#courier.run(nowMs);
  }

  #schedule(): void {
    const { state, dueMs } = this.#courier;
    const isRetrying = state.is === "retrying";
    const isFree = !isRetrying && state.is !== "sending" && !this.#isOver;
    setTo(this.#soon, isRetrying ? undefined : dueMs);
    setTo(this.#later, isRetrying ? dueMs : isFree ? this.#presence.graceEndsMs : undefined);
  }

  #makeCourier(): Courier<Parcel, void> {
    const { report } = this.#room;
    return new Courier(this.#room, {
      throttle: new Throttle(WEBHOOK_WINDOW_MS),
      retryMs: WEBHOOK_RETRY_MS,
      timeoutMs: WEBHOOK_SEND_MS_MAX,
      isBehind: () => this.#messages.isBehind || this.#presence.isBehind,
      collect: (nowMs) => this.#collect(nowMs),
      send: ({ batch }) => this.#deliver(batch.events),
      settle: ({ after }) => {
        for (const note of after) note();
        return undefined;
      },
      failed: (error, waitMs) => report(`webhook events could not be queued; next try in ${waitMs / 1000} s`, error),
      keep: () => this.#store(),
      schedule: () => this.#schedule(),
    });
  }

  // ---- what ------------------------------------------------------------------------------------------------

  #collect(nowMs: number): Collected<Parcel> {
    this.#room.catchUp();
    const parcel = this.#room.read(() => this.#pack(nowMs));
    if (!parcel) throw new Error("the log could not be read");
    const { batch, before, after } = parcel;
    const isEmpty = batch.events.length === 0;
    for (const note of isEmpty ? after : before) note();
    if (isEmpty ? this.#messages.mark.changedFrom !== this.#mark.changedFrom : before.length > 0) this.#store();
    return { parcel: isEmpty ? undefined : parcel, isFull: batch.isFull };
  }

  #pack(nowMs: number): Parcel {
    const parcel: Parcel = { batch: new WebhookBatch(), before: [], after: [] };
    this.#presence.collectArrivals(parcel);
    this.#messages.collect(parcel);
    this.#presence.collectDepartures(parcel, nowMs);
    return parcel;
  }

  // ---- marks -----------------------------------------------------------------------------------------------

  #store(): void {
    try {
      this.#write();
    } catch (error) {
      // The next life of the room tells it again.
      this.#room.report("the webhook's position could not be stored", error);
    }
  }

  /** @throws whatever the storage throws */
  #write(): void {
    this.#presence.save();
    const { retry } = this.#courier;
    const mark: Mark = { epoch: this.#room.log.epoch, ...this.#messages.mark, ...this.#presence.mark, retry };
    const text = JSON.stringify(mark);
    if (text === this.#stored) return;
    this.#room.state.put(STATE_KEY, mark);
    this.#mark = mark;
    this.#stored = text;
  }
}

function setTo(deadline: Deadline, atMs: number | undefined): void {
  if (atMs === undefined) deadline.clear();
  else deadline.set(atMs);
}
