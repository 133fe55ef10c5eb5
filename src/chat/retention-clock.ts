// Lets a room forget in time (CHAT-8): whenever something was stored, and in a quiet room by one alarm far away. The
// alarm costs a row, so it stands where the oldest segment will be due and does not move with every message.
import type { Deadline } from "../socketio/deadlines.ts";
import type { MessageLog } from "./message-log.ts";
import type { Room } from "./room.ts";

/** Storage that was in trouble is asked to forget again after this. */
const RETRY_MS = 3_600_000;

export class RetentionClock {
  readonly #log: MessageLog;
  readonly #deadline: Deadline;
  readonly #trimmed: () => void;
  readonly #report: (problem: string, error: unknown) => void;

  /**
   * @param deadline the one that calls `run` of this clock when it is due
   * @param trimmed called whenever the log was trimmed, whether or not there was anything to forget
   */
  constructor(log: MessageLog, deadline: Deadline, { trimmed, report }: Pick<Room, "trimmed" | "report">) {
    this.#log = log;
    this.#deadline = deadline;
    this.#trimmed = trimmed;
    this.#report = report;
    this.#schedule();
  }

  run(nowMs: number): void {
    try {
      this.#log.trim(nowMs);
      this.#trimmed();
      this.#schedule();
    } catch (error) {
      // What should be forgotten is still there, for a while.
      this.#report("old messages could not be forgotten", error);
      this.#deadline.set(nowMs + RETRY_MS);
    }
  }

  #schedule(): void {
    const dueMs = this.#log.trimDueMs;
    if (dueMs === undefined) this.#deadline.clear();
    else this.#deadline.set(dueMs);
  }
}
