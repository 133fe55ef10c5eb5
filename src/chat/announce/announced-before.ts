// Whether an announced message is stored here already: an announcement may come again for hours, and CHAT-4 looks back for
// minutes only. What was announced lately is left to that; for what was not, the log is read from when it was accepted (ANN-3).
import type { AnnouncedHere, AnnounceOutcome } from "../../protocol/announcement.ts";
import type { Message } from "../../protocol/chat-events.ts";
import { seqAtTime } from "../log/seq-at-time.ts";
import type { MessageLog } from "../log/message-log.ts";
import { DEDUPE_WINDOW_MS } from "../log/posted-ids.ts";
import type { Room } from "../room/room.ts";

/** Messages that one turn reads. */
export const LOOK_MESSAGES_PER_TURN = 2000;
/** The clocks of those who accept and of those who store may differ by this, in ms. */
const CLOCK_SLACK_MS = 60_000;

export class AnnouncedBefore {
  readonly #room: Room;
  readonly #announced: AnnouncedHere;
  /** Those that are still to be looked at. */
  #messages: Iterator<Message> | undefined;

  constructor(room: Room, announced: AnnouncedHere) {
    this.#room = room;
    this.#announced = announced;
  }

  /** One turn of looking. @returns what has become of it, if that is known; `"new"` where it may be stored now */
  look(): AnnounceOutcome | "new" | "go on" {
    const { now, seenSeq, catchUp, read } = this.#room;
    const { at } = this.#announced;
    // Nor is a log to be made for the question's sake.
    if (now() - at <= DEDUPE_WINDOW_MS - CLOCK_SLACK_MS || seenSeq() === 0) return "new";
    catchUp();
    const outcome = read((log) => this.#lookIn(log, at - CLOCK_SLACK_MS));
    return outcome ?? { ok: false, isFinal: false, reason: "the room could not read what it has" };
  }

  #lookIn(log: MessageLog, sinceMs: number): AnnounceOutcome | "new" | "go on" {
    if (!this.#messages && hasForgotten(log, sinceMs))
      return { ok: false, isFinal: true, reason: "the room has forgotten whether it has it" };
    this.#messages ??= log.ascending(seqAtTime(log, sinceMs) - 1)[Symbol.iterator]();
    for (let looked = 0; looked < LOOK_MESSAGES_PER_TURN; looked++) {
      const { value: message, done } = this.#messages.next();
      if (done) return "new";
      if (this.#is(message)) return { ok: true, reached: [], isHeard: true };
    }
    return "go on";
  }

  #is({ clientMsgId, sender }: Message): boolean {
    return clientMsgId === this.#announced.id && sender === this.#announced.by.user;
  }
}

/** Whether there may have been messages since then that are gone. */
function hasForgotten(log: MessageLog, sinceMs: number): boolean {
  if (log.firstSeq === 1) return false;
  const [oldest] = log.page({ after: log.firstSeq - 1, limit: 1 }).messages;
  return oldest === undefined || oldest.timestamp > sinceMs;
}
