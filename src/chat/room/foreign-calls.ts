// Bounds calls of foreign code that answer later: their number per room and party, and the time of each (RULE-6, RULE-7, OWN-5). They are in
// memory only, so the room stays awake meanwhile. Called by moderation-hook.ts for `beforePost`, and by custom/ for events of custom features.
import type { Deadline } from "../../clock/deadlines.ts";
import type { ErrorAnswer } from "../../protocol/chat-events.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { Party } from "../../protocol/shares.ts";
import type { Room } from "./room.ts";
import { Shares } from "./shares.ts";

/** Calls that may go on at once in a room. */
export const FOREIGN_CALLS_MAX = 512;
/** Of them, those for one user, or the guests of one network (CHAT-10). */
export const FOREIGN_CALLS_PER_USER_MAX = 32;
/** `retryAfterMs` where there are more. */
const BUSY_RETRY_MS = 1000;

export interface ForeignCall {
  /** The one for whom it counts. */
  readonly party: Party;
  /** Called when its time is over, and when the room is deleted: a call that has not ended by then gets both. */
  readonly giveUp: (why: "late" | "deleted") => void;
}

export class ForeignCalls {
  readonly #room: Room;
  readonly #name: string;
  readonly #busyText: string;
  readonly #calls = new Shares<ForeignCall>({ max: FOREIGN_CALLS_MAX, perParty: FOREIGN_CALLS_PER_USER_MAX });
  /** The last moment of each call that has not answered. */
  readonly #dueMs = new Map<ForeignCall, number>();
  #deadline!: Deadline;

  /**
   * @param name of the deadline
   * @param busyText the error of a request for which no place is left
   */
  constructor(room: Room, name: string, busyText: string) {
    this.#room = room;
    this.#name = name;
    this.#busyText = busyText;
  }

  start(): void {
    this.#deadline = this.#room.deadline(this.#name, (nowMs) => this.#giveUpLate(nowMs), { keepsAwake: true });
  }

  /** Refuses another call if there are too many. */
  refuse(party: Party): ErrorAnswer | undefined {
    return this.#calls.isFullFor(party) ? refuse("RATE_LIMITED", this.#busyText, BUSY_RETRY_MS) : undefined;
  }

  /** Gives a call a place until `end`. @param dueMs the room gives it up then; absent where it has answered already */
  begin(call: ForeignCall, dueMs?: number): void {
    this.#calls.add(call);
    if (dueMs === undefined) return;
    this.#dueMs.set(call, dueMs);
    this.#deadline.pull(dueMs);
  }

  /** Notes that a call has answered. @returns whether the answer counts: `false` after the room gave the call up */
  answered(call: ForeignCall): boolean {
    return this.#dueMs.delete(call);
  }

  end(call: ForeignCall): void {
    this.#dueMs.delete(call);
    if (this.#calls.delete(call) && this.#calls.size === 0) this.#deadline.clear();
  }

  #giveUpLate(nowMs: number): void {
    for (const [call, dueMs] of this.#dueMs) {
      if (dueMs > nowMs) this.#deadline.pull(dueMs);
      else if (this.#dueMs.delete(call)) call.giveUp("late");
    }
  }

  /** Gives all calls up, also those that have answered: the room is deleted. */
  stop(): void {
    const calls = this.#calls.clear();
    this.#dueMs.clear();
    this.#deadline.clear();
    for (const call of calls) call.giveUp("deleted");
  }
}
