// Collects messages, edits and deletions for the webhook (HOOK-1, HOOK-3) from the log, behind a stored mark. Used by webhooks.ts.
import { PendingChanges } from "./pending-changes.ts";
import { readableAfter, readableAt } from "../../chat/room/readable.ts";
import type { KeptChange } from "../../chat/room/room-part.ts";
import type { Room } from "../../chat/room/room.ts";
import { changed, posted, WEBHOOK_EVENTS_MAX, type OutgoingEvents } from "./webhook-batch.ts";

export interface MessageMark {
  /** Messages up to this `seq` were sent. */
  readonly seq: number;
  /** No change that is still to be sent has a lower `rev`. */
  readonly changedFrom?: number | undefined;
}

export class MessageFeed {
  readonly #room: Room;
  readonly #changes: PendingChanges;
  #seq: number;

  constructor(room: Room, { seq, changedFrom }: MessageMark) {
    this.#room = room;
    this.#seq = seq;
    this.#changes = new PendingChanges(room.log, changedFrom);
  }

  get mark(): MessageMark {
    return { seq: this.#seq, changedFrom: this.#changes.from };
  }

  get isBehind(): boolean {
    return this.#room.seenSeq() > this.#seq || this.#changes.from !== undefined;
  }

  /** @returns whether the change is sent to webhooks: reactions are not */
  note({ seq, rev, change }: KeptChange): boolean {
    const isNews = change.deletedBy !== undefined || change.edits.at(-1)?.timestamp === rev;
    if (isNews) this.#changes.note({ seq, rev });
    return isNews;
  }

  collectPosted({ batch, onTaken }: OutgoingEvents): void {
    if (batch.isFull) return;
    let seq = this.#seq;
    const problem = "unreadable messages are not sent to the webhook";
    for (const message of readableAfter(this.#room, seq, problem)) {
      if (!batch.add(posted(message))) break;
      ({ seq } = message);
    }
    // After the last message there may be skipped seqs.
    const sentSeq = batch.isFull ? seq : this.#room.log.lastSeq;
    onTaken.push(() => (this.#seq = sentSeq));
  }

  collectChanged({ batch, onTaken }: OutgoingEvents): void {
    if (batch.isFull || this.#changes.from === undefined) return;
    const taken = this.#changes.take(WEBHOOK_EVENTS_MAX);
    let count = 0;
    for (const { seq, rev } of taken.changed) {
      const kept = readableAt(this.#room, seq, "an unreadable change is not sent to the webhook");
      const event = kept && changed(kept, rev, taken.sinceRev);
      if (event && !batch.add(event)) break;
      count++;
    }
    onTaken.push(() => this.#changes.settle(taken, count));
  }
}
