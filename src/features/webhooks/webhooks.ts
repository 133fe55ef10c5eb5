// The feature that sends webhook events by a queue to the operator's server (HOOK-1 to HOOK-5). It compares the log and the members
// with a stored mark of the events that the queue has taken, so no events wait in memory.
import { Throttle } from "../../clock/rates.ts";
import type { WebhookEvent } from "../../protocol/webhook-events.ts";
import { LEAVE_GATHER_MS, LEAVE_GRACE_MS } from "../../chat/people/presence.ts";
import { BatchSender, SenderClock, type Collected, type Due, type Retry } from "../../chat/room/batch-sender.ts";
import type { RoomPart, KeptChange } from "../../chat/room/room-part.ts";
import type { Room } from "../../chat/room/room.ts";
import { MessageFeed, type MessageMark } from "./message-feed.ts";
import { PresenceFeed, type PresenceMark } from "./presence-feed.ts";
import { WebhookBatch, type OutgoingEvents } from "./webhook-batch.ts";

/** Hands events to the queue. Resolves once it has them, rejects where it does not take them. */
export type Deliver = (events: readonly WebhookEvent[]) => Promise<void>;

/** A busy room gathers events for this long (HOOK-2). */
export const WEBHOOK_WINDOW_MS = 1000;
/** A queue without an answer has failed after this (HOOK-3). */
export const WEBHOOK_SEND_MS_MAX = 10_000;
/** Doubled with each further failure. */
export const WEBHOOK_RETRY_MS = { first: 1000, max: 300_000 };

/** A room counts as vacated this long after its last member went. */
const EMPTY_GRACE_MS = LEAVE_GRACE_MS + LEAVE_GATHER_MS;

/** A room that is deleted hands over at most so many batches, at once and from memory. */
const LAST_BATCHES_MAX = 50;

const STATE_KEY = "webhooks";

/** One row: the events that the queue has taken. Written after each batch, with the room's first message and before a message changes. */
interface Mark extends MessageMark, PresenceMark {
  /** The log that `seq` counts in. */
  readonly epoch: string;
  readonly retry?: Retry | undefined;
}

export class Webhooks implements RoomPart {
  readonly #room: Room;
  readonly #deliver: Deliver;
  #clock!: SenderClock;
  #messages!: MessageFeed;
  #presence!: PresenceFeed;
  #sender!: BatchSender<OutgoingEvents, void>;
  /** As stored; and as text, to see whether it has changed: `undefined` while nothing is stored. */
  #mark!: Omit<Mark, "epoch">;
  #stored: string | undefined;
  #wasAsleep = false;
  #isOver = false;

  constructor(room: Room, deliver: Deliver) {
    this.#room = room;
    this.#deliver = deliver;
  }

  start(): void {
    const { log, reportProblem, state } = this.#room;
    const dues = (): Due[] => [this.#sender, { dueMs: this.#graceDueMs, maySleep: true }];
    this.#clock = new SenderClock(this.#room, "webhooks", dues, (nowMs) => this.#run(nowMs));
    const known = state.get(STATE_KEY) as Mark | undefined;
    const isKnown = known !== undefined && known.epoch === log.epoch;
    // A room that never sent anything begins with the next event. Its log is not asked for its name: that would store one (API-13).
    this.#mark = isKnown ? known : { seq: log.lastSeq };
    if (isKnown) this.#stored = JSON.stringify(known);
    this.#messages = new MessageFeed(this.#room, this.#mark);
    this.#presence = new PresenceFeed(this.#room, this.#mark, EMPTY_GRACE_MS, () => this.#request());
    this.#sender = new BatchSender(this.#room, {
      throttle: new Throttle(WEBHOOK_WINDOW_MS),
      retryMs: WEBHOOK_RETRY_MS,
      timeoutMs: WEBHOOK_SEND_MS_MAX,
      isBehind: () => this.#messages.isBehind || this.#presence.isBehind || this.#owesGrace,
      collect: (nowMs) => this.#collect(nowMs),
      send: ({ batch }) => this.#deliver(batch.events),
      settle: ({ onTaken }) => {
        for (const apply of onTaken) apply();
        return undefined;
      },
      failed: (error, waitMs) =>
        reportProblem(`webhook events could not be queued; next try in ${waitMs / 1000} s`, error),
      keep: () => this.#store(),
      schedule: () => this.#clock.set(),
    });
    if (this.#mark.retry) this.#sender.restore(this.#mark.retry);
    this.#request();
  }

  onRestore(): void {
    if (this.#wasAsleep) return;
    this.#wasAsleep = true;
    this.#presence.awake(this.#sender.failures === 0);
    this.#request();
  }

  onPosted(): void {
    // Stored together with the first message: without a mark the room would begin after it when it starts again.
    if (this.#stored === undefined) this.#store();
    this.#request();
  }

  onChanging(changing: KeptChange): void {
    if (!this.#messages.note(changing)) return;
    this.#request();
    // Throws where it cannot be stored, and the message does not change: the next instance has to know from where to look for changes.
    this.#write();
  }

  /** HOOK-5: sends the remaining events of a room that is deleted, once. */
  onErase(): undefined {
    this.#isOver = true;
    this.#sender.stop();
    this.#presence.endGrace();
    for (let left = LAST_BATCHES_MAX; left > 0; left--) {
      const outgoing = this.#room.read(() => this.#pack(this.#room.now()));
      if (!outgoing || outgoing.batch.events.length === 0) return;
      this.#deliver(outgoing.batch.events).catch((error) =>
        this.#room.reportProblem("last webhook events were lost", error),
      );
      for (const apply of [...outgoing.onSend, ...outgoing.onTaken]) apply();
    }
    this.#room.reportProblem(
      "a deleted room had more webhook events than it may send at once",
      new Error(`${LAST_BATCHES_MAX} batches`),
    );
  }

  // ---- timing ----------------------------------------------------------------------------------------------

  #request(): void {
    this.#sender.request(this.#room.now());
    this.#clock.set();
  }

  #run(nowMs: number): void {
    if (nowMs >= (this.#graceDueMs ?? Infinity)) {
      this.#presence.endGrace();
      this.#sender.request(nowMs);
    }
    this.#sender.run(nowMs);
  }

  /** The end of a grace; while a call is under way or has failed, the call comes first. */
  get #graceDueMs(): number | undefined {
    const { is } = this.#sender.state;
    return this.#isOver || is === "sending" || is === "retrying" ? undefined : this.#presence.graceEndsMs;
  }

  // ---- batches ---------------------------------------------------------------------------------------------

  #collect(nowMs: number): Collected<OutgoingEvents> {
    this.#room.catchUp();
    const outgoing = this.#room.read(() => this.#pack(nowMs));
    if (!outgoing) throw new Error("the log could not be read");
    const { batch, onSend, onTaken } = outgoing;
    const isEmpty = batch.events.length === 0;
    for (const apply of isEmpty ? onTaken : onSend) apply();
    const hasChanged = this.#owesGrace || this.#messages.mark.changedFrom !== this.#mark.changedFrom;
    if (isEmpty ? hasChanged : onSend.length > 0) this.#store();
    return { batch: isEmpty ? undefined : outgoing, isFull: batch.isFull };
  }

  /**
   * The stored grace is wrong. That of a restart has to be stored, because a room that wakes without connections would begin it again each
   * time; and one that is over must not stay, because the next restart would go by it.
   */
  get #owesGrace(): boolean {
    const { graceEndsMs } = this.#mark;
    return (this.#presence.isRestart || graceEndsMs !== undefined) && this.#presence.mark.graceEndsMs !== graceEndsMs;
  }

  #pack(nowMs: number): OutgoingEvents {
    const outgoing: OutgoingEvents = { batch: new WebhookBatch(), onSend: [], onTaken: [] };
    this.#presence.collectArrivals(outgoing);
    this.#messages.collectPosted(outgoing);
    this.#messages.collectChanged(outgoing);
    this.#presence.collectDepartures(outgoing, nowMs);
    return outgoing;
  }

  // ---- marks -----------------------------------------------------------------------------------------------

  #store(): void {
    try {
      this.#write();
    } catch (error) {
      // After the next start the same events are sent again, with the same ids.
      this.#room.reportProblem("the webhook's position could not be stored", error);
    }
  }

  /** @throws errors of the storage */
  #write(): void {
    this.#presence.save();
    const { retry } = this.#sender;
    const mark: Mark = { epoch: this.#room.log.epoch, ...this.#messages.mark, ...this.#presence.mark, retry };
    const text = JSON.stringify(mark);
    if (text === this.#stored) return;
    this.#room.state.put(STATE_KEY, mark);
    this.#mark = mark;
    this.#stored = text;
  }
}
