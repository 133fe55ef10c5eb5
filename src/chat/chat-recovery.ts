// What recovery replays in a chat room: its messages. They are in the log already, so a broadcast costs no
// row of its own; everything else a client can ask for anew, and `welcome` tells it.
import type { MissedEvent, RecoveryLog } from "../socketio/recovery.ts";
import type { MessageLog } from "./message-log.ts";

/** Messages replayed at most; who missed more reads `history` in pages (REC-5). */
export const MISSED_MESSAGES_MAX = 1000;

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
    if (seq + 1 < this.#log.firstSeq) return undefined;
    const { messages, hasMore } = this.#log.page({ after: seq, limit: MISSED_MESSAGES_MAX });
    if (hasMore) return undefined;
    return messages.map((message) => ({
      seq: message.seq,
      atMs: message.timestamp,
      event: "chat-message",
      args: [message],
    }));
  }
}
