// The recovery log of a shard (SHD-6): the messages that it has shown last. Once one of them was changed it forgets all; the room sends those that
// a client needs with the verdict on its CONNECT. Made by audience.ts.
import type { Message } from "../protocol/chat-events.ts";
import { MISSED_MESSAGES_MAX } from "../protocol/limits.ts";
import { parseMessageId } from "../protocol/message-id.ts";
import { MISSED_CHARS_MAX, type LogPlace } from "../protocol/shards.ts";
import type { MissedEvent, RecoveryLog } from "../socketio/recovery/recovery.ts";

export class ShardLog implements RecoveryLog {
  /** Signs private ids: that of the room's log. */
  key = "";
  #place: LogPlace = { epoch: "", life: "", seq: 0, rev: 0, by: "", ruling: 0 };
  /** Without a gap, the last one at the place. */
  #shown: Message[] = [];
  /** That of the message before the first one. */
  #lifeBefore = "";
  #chars = 0;
  /** The last answer of `since`: after a break many clients ask for the same, and it is encoded once (recovery.ts). */
  #answered: { readonly seq: number; readonly missed: readonly MissedEvent[] } | undefined;

  get epoch(): string {
    return this.#place.epoch;
  }

  get lastSeq(): number {
    return this.#place.seq;
  }

  lifeAt(seq: number): string | undefined {
    if (seq === this.lastSeq) return this.#place.life;
    const at = this.#shown.length - 1 - (this.lastSeq - seq);
    if (at === -1) return this.#lifeBefore;
    const message = this.#shown[at];
    return message && this.#lifeOf(message);
  }

  since(seq: number): readonly MissedEvent[] | undefined {
    if (!this.hasAllAfter(seq)) return undefined;
    if (this.#answered?.seq === seq) return this.#answered.missed;
    const missed = this.#shown.slice(this.#shown.length - (this.lastSeq - seq)).map((message) => ({
      seq: message.seq,
      life: this.#lifeOf(message),
      atMs: message.timestamp,
      event: "chat-message",
      args: [message],
    }));
    this.#answered = { seq, missed };
    return missed;
  }

  hasAllAfter(seq: number): boolean {
    const count = this.lastSeq - seq;
    return count >= 0 && count <= this.#shown.length;
  }

  /** Sets the place of the shard. It forgets its messages where they do not lead there. */
  move(place: LogPlace): void {
    const { epoch, seq, rev } = this.#place;
    if (place.epoch !== epoch || place.seq !== seq || place.rev !== rev) this.#forget(place.life);
    this.#place = place;
  }

  /** These messages are about to be shown. */
  show(messages: readonly Message[]): void {
    this.#answered = undefined;
    for (const message of messages) {
      const { seq } = message;
      const [before, life] = [this.#place.seq, this.#lifeOf(message)];
      this.#place = { ...this.#place, seq, life };
      // The room did not show those in between (CROWD-1).
      if (seq !== before + 1) this.#forget(life);
      else {
        this.#shown.push(message);
        this.#chars += message.content.length;
      }
    }
    while (this.#shown.length > MISSED_MESSAGES_MAX || this.#chars > MISSED_CHARS_MAX) {
      const first = this.#shown.shift()!;
      this.#chars -= first.content.length;
      this.#lifeBefore = this.#lifeOf(first);
    }
  }

  /** All messages after some seq up to the place, as they are now. @param life of the message with that seq */
  fill(messages: readonly Message[], life: string): void {
    const place = this.#place;
    // Those for somebody else reach further back.
    if (this.hasAllAfter(place.seq - messages.length)) return;
    this.#forget(life);
    this.#place = { ...place, seq: place.seq - messages.length };
    this.show(messages);
    this.#place = place;
  }

  #forget(life: string): void {
    this.#answered = undefined;
    this.#shown = [];
    this.#lifeBefore = life;
    this.#chars = 0;
  }

  #lifeOf({ id }: Message): string {
    return parseMessageId(this.epoch, id)?.life ?? "";
  }
}
