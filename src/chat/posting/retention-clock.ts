// Trims the log in time (CHAT-8): after each commit, and in a quiet room by one alarm. An alarm costs a row, so it is set to
// the due time of the oldest segment and does not move with every message. A clock may be wrong for a moment: a segment is
// dropped when it was too old twice, an hour apart. Called by posting.ts.
import type { Deadline } from "../../clock/deadlines.ts";
import type { Room } from "../room/room.ts";

/** A segment that was found too old is dropped after this, if it is too old still. */
export const CONFIRM_MS = 3_600_000;

/** After a failure of the storage the log is trimmed again after this. */
const RETRY_MS = 3_600_000;

/** A segment that was found too old: its due time, and the time of the finding, both in ms since 1970. */
interface Finding {
  readonly dueMs: number;
  readonly atMs: number;
}

const STATE_KEY = "retention";

export class RetentionClock {
  readonly #room: Room;
  readonly #deadline: Deadline;
  /** As it is stored; `null` where there is none, `undefined` until it is read. */
  #known: Finding | null | undefined;

  constructor(room: Room) {
    this.#room = room;
    this.#deadline = room.deadline("retention", (nowMs) => this.run(nowMs));
    try {
      this.#schedule();
    } catch (error) {
      this.#room.reportProblem("the state of the retention could not be read", error);
      this.#deadline.set(this.#room.log.trimDueMs!);
    }
  }

  run(nowMs: number): void {
    try {
      this.#room.log.trim(this.#believedMs(nowMs));
      this.#room.trimmed();
      const dueMs = this.#room.log.trimDueMs;
      const isTooOld = dueMs !== undefined && nowMs >= dueMs;
      if (isTooOld && !this.#findingOf(dueMs)) this.#keep({ dueMs, atMs: nowMs });
      this.#schedule();
    } catch (error) {
      // Old messages stay for a while.
      this.#room.reportProblem("old messages could not be forgotten", error);
      this.#deadline.set(nowMs + RETRY_MS);
    }
  }

  /**
   * @returns the time up to which old messages may go: an hour after the oldest segment was found too old, however far ahead the
   * clock is by now. Messages beyond HISTORY_MESSAGES go at any time.
   */
  #believedMs(nowMs: number): number {
    const finding = this.#findingOf(this.#room.log.trimDueMs);
    if (!finding) return -Infinity;
    // The clock was ahead at the finding, or is behind now.
    if (nowMs < finding.atMs) this.#keep(null);
    const confirmedMs = finding.atMs + CONFIRM_MS;
    return nowMs >= confirmedMs ? confirmedMs : -Infinity;
  }

  /** A room without anything to trim stores no finding, and its storage is not read. */
  #findingOf(dueMs: number | undefined): Finding | null {
    return dueMs !== undefined && this.#finding?.dueMs === dueMs ? this.#finding : null;
  }

  get #finding(): Finding | null {
    if (this.#known === undefined) this.#known = (this.#room.state.get(STATE_KEY) as Finding | undefined) ?? null;
    return this.#known;
  }

  #keep(finding: Finding | null): void {
    if (finding) this.#room.state.put(STATE_KEY, finding);
    else this.#room.state.delete(STATE_KEY);
    this.#known = finding;
  }

  #schedule(): void {
    const dueMs = this.#room.log.trimDueMs;
    if (dueMs === undefined) return this.#deadline.clear();
    const finding = this.#findingOf(dueMs);
    this.#deadline.set(finding ? finding.atMs + CONFIRM_MS : dueMs);
  }
}
