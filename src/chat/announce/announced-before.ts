// Finds out whether an announced message is stored here already (ANN-3). CHAT-4 recognizes it for ten minutes; an older announcement is
// looked for in the log, from when it was accepted. Called by announced.ts.
import type { AnnouncedHere, AnnounceOutcome } from "../../protocol/announcement.ts";
import type { Message } from "../../protocol/chat-events.ts";
import { seqAtTime } from "../log/seq-at-time.ts";
import type { MessageLog } from "../log/message-log.ts";
import { DEDUPE_WINDOW_MS } from "../log/posted-ids.ts";
import type { Room } from "../room/room.ts";

/** Messages that one turn reads. */
export const LOOK_MESSAGES_PER_TURN = 2000;
/** The clocks of the Worker that accepts and of the room may differ by this, in ms. */
const CLOCK_SLACK_MS = 60_000;

export class AnnouncedBefore {
  readonly #room: Room;
  readonly #announced: AnnouncedHere;
  /** Messages that are left to look at. */
  #messages: Iterator<Message> | undefined;

  constructor(room: Room, announced: AnnouncedHere) {
    this.#room = room;
    this.#announced = announced;
  }

  /** Takes one turn. @returns its outcome, if that is known by now; `"new"` where it may be stored */
  look(): AnnounceOutcome | "new" | "go on" {
    const { now, seenSeq, catchUp, read } = this.#room;
    const { at } = this.#announced;
    // Reading an empty log would make one.
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

/** Whether the log may have lost messages of that time. */
function hasForgotten(log: MessageLog, sinceMs: number): boolean {
  if (log.firstSeq === 1) return false;
  const [oldest] = log.page({ after: log.firstSeq - 1, limit: 1 }).messages;
  return oldest === undefined || oldest.timestamp > sinceMs;
}
