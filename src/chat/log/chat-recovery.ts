// The recovery log of a chat room: recovery replays its messages, with their changes (REC-5, MSG-7). They are in the log already,
// so a broadcast costs no row of its own. `welcome` has the rest of the room's state. Made by chat.ts.
import type { Message } from "../../protocol/chat-events.ts";
import type { MissedEvent, RecoveryLog } from "../../socketio/recovery/recovery.ts";
import { MISSED_MESSAGES_MAX } from "../../protocol/limits.ts";
import { parseMessageId } from "../../protocol/message-id.ts";
import type { MessageLog } from "./message-log.ts";

export interface ChatRecoveryContext {
  readonly log: MessageLog;
  /** The newest seq of which all members have heard. */
  readonly toldSeq: () => number;
  /** Stores messages that were shown before they were stored. */
  readonly catchUp: () => void;
  /** Number of changes in this life of the room. */
  readonly countChanges: () => number;
  readonly report: (problem: string, error: unknown) => void;
}

/** Missed events since a seq; valid while `lastSeq` and the number of changes stay the same. */
interface Answered {
  readonly seq: number;
  readonly lastSeq: number;
  readonly changes: number;
  readonly missed: readonly MissedEvent[];
}

export class ChatRecoveryLog implements RecoveryLog {
  readonly #context: ChatRecoveryContext;
  /** The last answer: after a network failure all clients ask for the same. */
  #answered: Answered | undefined;

  constructor(context: ChatRecoveryContext) {
    this.#context = context;
  }

  get epoch(): string {
    return this.#context.log.epoch;
  }

  get key(): string {
    return this.#context.log.key;
  }

  get lastSeq(): number {
    return this.#context.toldSeq();
  }

  lifeAt(seq: number): string | undefined {
    return this.#context.log.lifeAt(seq);
  }

  since(seq: number): readonly MissedEvent[] | undefined {
    const { catchUp, countChanges, report } = this.#context;
    catchUp();
    const { lastSeq } = this;
    const changes = countChanges();
    const answered = this.#answered;
    if (answered?.seq === seq && answered.lastSeq === lastSeq && answered.changes === changes) return answered.missed;
    try {
      const missed = this.#read(seq, lastSeq - seq);
      if (missed) this.#answered = { seq, lastSeq, changes, missed };
      return missed;
    } catch (error) {
      report("missed messages could not be read", error);
      return undefined;
    }
  }

  #read(seq: number, count: number): MissedEvent[] | undefined {
    if (count > MISSED_MESSAGES_MAX) return undefined;
    if (count === 0) return [];
    const { messages } = this.#context.log.page({ after: seq, limit: count });
    // Fewer than there are seqs: some were trimmed, or seen and never stored. The gap is not provably complete.
    if (messages.length !== count) return undefined;
    return messages.map((message) => toMissedEvent(message, this.epoch));
  }
}

const toMissedEvent = (message: Message, epoch: string): MissedEvent => ({
  seq: message.seq,
  life: parseMessageId(epoch, message.id)!.life,
  atMs: message.timestamp,
  event: "chat-message",
  args: [message],
});
