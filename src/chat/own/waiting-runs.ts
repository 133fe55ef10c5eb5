// Waits for events of features of one's own that answer later, within a time and up to a number (OWN-5). In memory only, so the room
// stays awake meanwhile. Called by own-event.ts.
import type { Deadline } from "../../clock/deadlines.ts";
import type { ErrorAnswer } from "../../protocol/chat-events.ts";
import { refuse } from "../room/answers.ts";
import type { Room } from "../room/room.ts";

/** The longest time that an event may take, in ms. */
export const RUN_MS_MAX = 30_000;
/** Events that may take their time in a room, and of them those of one user. */
export const RUNS_MAX = 512;
export const RUNS_PER_USER_MAX = 32;
/** `retryAfterMs` where there are more. */
const BUSY_RETRY_MS = 1000;

interface Run {
  readonly user: string;
  readonly dueMs: number;
  readonly giveUp: (error: Error) => void;
}

export class WaitingRuns {
  readonly #room: Room;
  readonly #runs = new Set<Run>();
  readonly #countOf = new Map<string, number>();
  #deadline!: Deadline;

  constructor(room: Room) {
    this.#room = room;
  }

  start(): void {
    this.#deadline = this.#room.deadline("own-event", (nowMs) => this.#giveUpLate(nowMs), { keepsAwake: true });
  }

  /** Refuses one more event of a user where there are too many. */
  refuse(user: string): ErrorAnswer | undefined {
    const isFull = this.#runs.size >= RUNS_MAX || (this.#countOf.get(user) ?? 0) >= RUNS_PER_USER_MAX;
    return isFull
      ? refuse("RATE_LIMITED", "Rate limit exceeded: too many requests are still running.", BUSY_RETRY_MS)
      : undefined;
  }

  /** @returns the result; rejects once it takes too long, or the room is deleted */
  async wait<Result>(user: string, running: PromiseLike<Result>): Promise<Result> {
    const late = Promise.withResolvers<never>();
    const dueMs = this.#room.now() + RUN_MS_MAX;
    const run = { user, dueMs, giveUp: late.reject };
    this.#runs.add(run);
    this.#countOf.set(user, (this.#countOf.get(user) ?? 0) + 1);
    this.#deadline.pull(dueMs);
    try {
      return await Promise.race([running, late.promise]);
    } finally {
      this.#end(run);
    }
  }

  #end(run: Run): void {
    if (!this.#runs.delete(run)) return;
    const left = this.#countOf.get(run.user)! - 1;
    if (left > 0) this.#countOf.set(run.user, left);
    else this.#countOf.delete(run.user);
    if (this.#runs.size === 0) this.#deadline.clear();
  }

  #giveUpLate(nowMs: number): void {
    // In the order in which they began.
    for (const run of this.#runs) {
      if (run.dueMs > nowMs) return this.#deadline.set(run.dueMs);
      this.#end(run);
      run.giveUp(new Error(`it took longer than ${RUN_MS_MAX / 1000} s`));
    }
  }

  /** The room is deleted: what it waits for belongs to its former life. */
  stop(): void {
    for (const run of this.#runs) {
      this.#end(run);
      run.giveUp(new Error("the room was deleted meanwhile"));
    }
  }
}
