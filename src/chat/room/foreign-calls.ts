// Bounds calls of foreign code that answer later: their number per room and user, and the time of each (RULE-6, RULE-7, OWN-5). They are in
// memory only, so the room stays awake meanwhile. Called by screening.ts for `beforePost`, and by own/ for events of features of one's own.
import type { Deadline } from "../../clock/deadlines.ts";
import type { ErrorAnswer } from "../../protocol/chat-events.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { Room } from "./room.ts";

/** Calls that may go on at once in a room. */
export const FOREIGN_CALLS_MAX = 512;
/** Of them, those for one user. */
export const FOREIGN_CALLS_PER_USER_MAX = 32;
/** `retryAfterMs` where there are more. */
const BUSY_RETRY_MS = 1000;

export interface ForeignCall {
  /** The user who made the request. */
  readonly user: string;
  /** Called at most once: when its time is over, or the room is deleted. */
  readonly giveUp: (why: "late" | "deleted") => void;
}

export class ForeignCalls {
  readonly #room: Room;
  readonly #name: string;
  readonly #busyText: string;
  readonly #calls = new Set<ForeignCall>();
  readonly #countOf = new Map<string, number>();
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

  /** Refuses another call for a user where there are too many. */
  refuse(user: string): ErrorAnswer | undefined {
    const isFull =
      this.#calls.size >= FOREIGN_CALLS_MAX || (this.#countOf.get(user) ?? 0) >= FOREIGN_CALLS_PER_USER_MAX;
    return isFull ? refuse("RATE_LIMITED", this.#busyText, BUSY_RETRY_MS) : undefined;
  }

  /** Gives a call a place until `end`. @param dueMs the room gives it up then; absent where it has answered already */
  begin(call: ForeignCall, dueMs?: number): void {
    this.#calls.add(call);
    this.#countOf.set(call.user, (this.#countOf.get(call.user) ?? 0) + 1);
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
    if (!this.#calls.delete(call)) return;
    const left = this.#countOf.get(call.user)! - 1;
    if (left > 0) this.#countOf.set(call.user, left);
    else this.#countOf.delete(call.user);
    if (this.#calls.size === 0) this.#deadline.clear();
  }

  #giveUpLate(nowMs: number): void {
    for (const [call, dueMs] of this.#dueMs) {
      if (dueMs > nowMs) this.#deadline.pull(dueMs);
      else if (this.#dueMs.delete(call)) call.giveUp("late");
    }
  }

  /** Gives all calls up, also those that have answered: the room is deleted. */
  stop(): void {
    const calls = [...this.#calls];
    for (const call of calls) this.end(call);
    for (const call of calls) call.giveUp("deleted");
  }
}
