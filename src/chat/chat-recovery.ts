// What recovery replays in a chat room: its messages. They are in the log already, so a broadcast costs no
// row of its own; everything else a client can ask for anew, and `welcome` tells it.
import type { Message } from "../protocol/chat-events.ts";
import { MISSED_BYTES_MAX, type MissedEvent, type RecoveryLog } from "../socketio/recovery.ts";
import type { MessageLog } from "./message-log.ts";

/** Messages replayed at most; who missed more reads `history` in pages (REC-5). */
export const MISSED_MESSAGES_MAX = 1000;

const PAGE_MESSAGES = 100;

export class ChatRecoveryLog implements RecoveryLog {
  readonly #log: MessageLog;

  constructor(log: MessageLog) {
    this.#log = log;
  }

  get epoch(): string {
    return this.#log.epoch;
  }

  get key(): string {
    return this.#log.key;
  }

  get lastSeq(): number {
    return this.#log.lastSeq;
  }

  since(seq: number): MissedEvent[] | undefined {
    // What came next may have been trimmed: then nobody can say what was missed.
    if (seq + 1 < this.#log.firstSeq || this.lastSeq - seq > MISSED_MESSAGES_MAX) return undefined;
    const missed: MissedEvent[] = [];
    let chars = 0;
    for (const message of this.#after(seq)) {
      chars += message.content.length;
      if (chars > MISSED_BYTES_MAX) return undefined;
      missed.push({ seq: message.seq, atMs: message.timestamp, event: "chat-message", args: [message] });
    }
    return missed;
  }

  /** In pages, so that what is too much is not read whole. */
  *#after(seq: number): Iterable<Message> {
    for (let after = seq; after < this.lastSeq;) {
      const { messages } = this.#log.page({ after, limit: PAGE_MESSAGES });
      yield* messages;
      after = messages.at(-1)?.seq ?? this.lastSeq;
    }
  }
}
