// The recovery log of a shard (SHD-6): the messages that it has delivered last. Once one of them was changed it forgets all; the room sends those that
// a client needs with the decision on its CONNECT. Made by shard-members.ts.
import type { Message } from "../protocol/chat-events.ts";
import { MISSED_MESSAGES_MAX } from "../protocol/limits.ts";
import { parseMessageId } from "../protocol/message.ts";
import { MISSED_CHARS_MAX, missedCharsOf, type LogPosition } from "../protocol/shards.ts";
import type { MissedEvent, RecoveryLog } from "../socketio/recovery/recovery.ts";

export class ShardLog implements RecoveryLog {
  /** Signs private ids: that of the room's log. */
  key = "";
  #position: LogPosition = { epoch: "", life: "", seq: 0, rev: 0, by: "", ruling: 0 };
  /** Without a gap, the last one at the position. */
  #delivered: Message[] = [];
  /** That of the message before the first one. */
  #incarnationBefore = "";
  #chars = 0;
  /** The last answer of `since`: after a break many clients ask for the same, and it is encoded once (recovery.ts). */
  #answered: { readonly seq: number; readonly missed: readonly MissedEvent[] } | undefined;

  get epoch(): string {
    return this.#position.epoch;
  }

  get lastSeq(): number {
    return this.#position.seq;
  }

  incarnationAt(seq: number): string | undefined {
    if (seq === this.lastSeq) return this.#position.life;
    const at = this.#delivered.length - 1 - (this.lastSeq - seq);
    if (at === -1) return this.#incarnationBefore;
    const message = this.#delivered[at];
    return message && this.#incarnationOf(message);
  }

  since(seq: number): readonly MissedEvent[] | undefined {
    if (!this.hasAllAfter(seq)) return undefined;
    if (this.#answered?.seq === seq) return this.#answered.missed;
    const missed = this.#delivered.slice(this.#delivered.length - (this.lastSeq - seq)).map((message) => ({
      seq: message.seq,
      incarnation: this.#incarnationOf(message),
      atMs: message.timestamp,
      event: "chat-message",
      args: [message],
    }));
    this.#answered = { seq, missed };
    return missed;
  }

  hasAllAfter(seq: number): boolean {
    const count = this.lastSeq - seq;
    return count >= 0 && count <= this.#delivered.length;
  }

  /** Sets the position of the shard. It forgets its messages where they do not lead there. */
  move(position: LogPosition): void {
    const { epoch, seq, rev } = this.#position;
    if (position.epoch !== epoch || position.seq !== seq || position.rev !== rev) this.#forget(position.life);
    this.#position = position;
  }

  /** These messages are about to be delivered. */
  deliver(messages: readonly Message[]): void {
    this.#answered = undefined;
    for (const message of messages) {
      const { seq } = message;
      const [before, incarnation] = [this.#position.seq, this.#incarnationOf(message)];
      this.#position = { ...this.#position, seq, life: incarnation };
      // The room did not deliver those in between (CROWD-1).
      if (seq !== before + 1) this.#forget(incarnation);
      else {
        this.#delivered.push(message);
        this.#chars += missedCharsOf(message);
      }
    }
    while (this.#delivered.length > MISSED_MESSAGES_MAX || this.#chars > MISSED_CHARS_MAX) {
      const first = this.#delivered.shift()!;
      this.#chars -= missedCharsOf(first);
      this.#incarnationBefore = this.#incarnationOf(first);
    }
  }

  /** All messages after some seq up to the position, as they are now. @param incarnation of the message with that seq */
  fill(messages: readonly Message[], incarnation: string): void {
    const position = this.#position;
    // Those for somebody else reach further back.
    if (this.hasAllAfter(position.seq - messages.length)) return;
    this.#forget(incarnation);
    this.#position = { ...position, seq: position.seq - messages.length };
    this.deliver(messages);
    this.#position = position;
  }

  #forget(incarnation: string): void {
    this.#answered = undefined;
    this.#delivered = [];
    this.#incarnationBefore = incarnation;
    this.#chars = 0;
  }

  #incarnationOf({ id }: Message): string {
    return parseMessageId(this.epoch, id)?.incarnation ?? "";
  }
}
