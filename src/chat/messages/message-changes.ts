// Changes of messages: finds a message, stores its change, and lists changes since a client was away (MSG-6, MSG-10). Called by
// editing.ts and reacting.ts, which have the rules about changes, and by links.
import type { PayloadOf } from "../../protocol/event.ts";
import { CHANGES, GET_MESSAGE } from "../../protocol/events/messages.ts";
import type { ChangesAnswer, ChangesWelcome, ErrorAnswer } from "../../protocol/chat-events.ts";
import { refuse } from "../../protocol/refuse.ts";
import { withChange, type Change, type Kept } from "../log/change.ts";
import { fitFirst } from "../room/fitting.ts";
import { parseMessageId } from "../../protocol/message.ts";
import type { RoomPart, KeptChange } from "../room/room-part.ts";
import { handler } from "../room/operation.ts";
import type { Room } from "../room/room.ts";

/**
 * Changes are ordered by the clock, because a counter would cost a row of its own with each of them, or a search when the
 * room wakes. Between two instances of a room the clock may go back; the `rev` that clients get is behind by this much, so that they
 * get a change twice rather than never.
 */
export const CLOCK_SLACK_MS = 60_000;

export class MessageChanges implements RoomPart {
  readonly #room: Room;
  /** As `lastRev` has it. */
  #lastRev = 0;
  /** Changes kept by this instance of the room. */
  count = 0;
  readonly operations = [
    handler(GET_MESSAGE, (_caller, { id }) => {
      const found = this.find(id);
      return "error" in found ? found : { ok: true, message: withChange(found.posted, found.change) };
    }),
    handler(CHANGES, (_caller, payload) => this.#after(payload)),
  ];

  constructor(room: Room) {
    this.#room = room;
  }

  welcome(): ChangesWelcome {
    return { rev: this.clientRev };
  }

  /** `rev` of the latest change by this instance of the room, or the place that `raise` set; 0 without either. */
  get lastRev(): number {
    return this.#lastRev;
  }

  /** A place among all changes for the next one. */
  get nextRev(): number {
    return Math.max(this.#room.now(), this.#lastRev + 1);
  }

  /** The next change comes behind this place, also where the clock was set back since. */
  raise(rev: number): void {
    this.#lastRev = Math.max(this.#lastRev, rev);
  }

  /** The `rev` that clients get. A client that asks for the changes after it misses none, and may get some twice. */
  get clientRev(): number {
    return Math.max(0, Math.max(this.#lastRev, this.#room.now()) - CLOCK_SLACK_MS);
  }

  /** Finds a message, deleted or not. */
  find(id: string): Kept | ErrorAnswer {
    const { log, catchUp, read, seenSeq } = this.#room;
    // A lookup must not create a log.
    if (seenSeq() === 0) return noSuchMessage();
    const parsed = parseMessageId(log.epoch, id);
    if (!parsed) return noSuchMessage();
    const { seq } = parsed;
    // It may be shown, and not stored yet.
    if (seq > log.lastSeq) catchUp();
    const found = read(() => ({ kept: log.find(seq) }));
    if (!found) return refuse("INTERNAL", "The message could not be read; try again.");
    // After a restored backup another message may have the seq.
    return found.kept?.posted.id === id ? found.kept : noSuchMessage();
  }

  /** The same, but a deleted message is not found. */
  findUndeleted(id: string): Kept | ErrorAnswer {
    const found = this.find(id);
    return "posted" in found && found.change?.deletedBy !== undefined ? noSuchMessage() : found;
  }

  /** Stores the change of a message in place of its earlier one. @returns the error, if that failed */
  keep(seq: number, change: Change): ErrorAnswer | undefined {
    return this.#keep({ seq, rev: this.nextRev, change, isRewrite: false });
  }

  /** The same for a change of the text, or a deletion. */
  rewrite(seq: number, change: Change, rev = this.nextRev): ErrorAnswer | undefined {
    return this.#keep({ seq, rev, change, isRewrite: true });
  }

  #keep(changing: KeptChange): ErrorAnswer | undefined {
    const { seq, rev, change } = changing;
    try {
      this.#room.changing(changing);
      this.#room.log.keep(seq, rev, change);
      this.#lastRev = rev;
      this.count++;
      return undefined;
    } catch (error) {
      this.#room.reportProblem("a change could not be stored", error);
      return refuse("INTERNAL", "The change could not be stored; try again.");
    }
  }

  #after({ after, limit }: PayloadOf<typeof CHANGES>): ChangesAnswer {
    const { log, read } = this.#room;
    const changed = read(() => {
      const revs = log.changedAfter(after, limit + 1);
      const page = revs.slice(0, limit).map(({ seq, rev }) => {
        const kept = log.find(seq);
        return { rev, message: kept && withChange(kept.posted, kept.change) };
      });
      return { page, isLast: revs.length <= limit };
    });
    if (!changed) return refuse("INTERNAL", "The changes could not be read.");
    const { page, isLast } = changed;
    const fitting = fitFirst(page);
    const hasMore = !isLast || fitting.length < page.length;
    // Trimmed messages have no changes.
    const messages = fitting.flatMap(({ message }) => message ?? []);
    return { ok: true, messages, rev: hasMore ? fitting.at(-1)!.rev : this.clientRev, hasMore };
  }
}

const noSuchMessage = (): ErrorAnswer => refuse("NOT_FOUND", "id: no such message in this room");
