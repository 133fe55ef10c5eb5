// Lets a room forget in time (CHAT-8): whenever something was stored, and in a quiet room by one alarm far away. The
// alarm costs a row, so it stands where the oldest segment will be due and does not move with every message. A clock may be
// wrong for a moment: that a segment is too old is believed when it was seen twice, an hour apart.
import type { Deadline } from "../../clock/deadlines.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { RoomState } from "../../storage/room-state.ts";
import type { Room } from "../room/room.ts";

/** So long after a segment was seen to be too old it is forgotten, if it is so still. */
export const CONFIRM_MS = 3_600_000;

/** Storage that was in trouble is asked to forget again after this. */
const RETRY_MS = 3_600_000;

/** When it was first seen that the segment that was due then is too old, both in ms since 1970. */
interface Sight {
  readonly dueMs: number;
  readonly atMs: number;
}

const SIGHT = "retention";

export class RetentionClock {
  readonly #log: MessageLog;
  readonly #deadline: Deadline;
  readonly #trimmed: () => void;
  readonly #report: (problem: string, error: unknown) => void;
  readonly #state: RoomState;
  /** As it is kept; `null` where there is none. */
  #known: Sight | null | undefined;

  /**
   * @param deadline the one that calls `run` of this clock when it is due
   * @param trimmed called whenever the log was trimmed, whether or not there was anything to forget
   */
  constructor(
    log: MessageLog,
    deadline: Deadline,
    { trimmed, report, state }: Pick<Room, "trimmed" | "report" | "state">,
  ) {
    this.#log = log;
    this.#deadline = deadline;
    this.#trimmed = trimmed;
    this.#report = report;
    this.#state = state;
    try {
      this.#schedule();
    } catch (error) {
      this.#report("what was to be forgotten could not be read", error);
      this.#deadline.set(this.#log.trimDueMs!);
    }
  }

  run(nowMs: number): void {
    try {
      this.#log.trim(this.#believedMs(nowMs));
      this.#trimmed();
      this.#look(nowMs);
      this.#schedule();
    } catch (error) {
      // What should be forgotten is still there, for a while.
      this.#report("old messages could not be forgotten", error);
      this.#deadline.set(nowMs + RETRY_MS);
    }
  }

  /**
   * @returns up to when messages that were too old may go: an hour after the oldest segment was seen to be too old, however far ahead
   * the clock is by now. Messages beyond HISTORY_MESSAGES go at any time, also by a clock that is not believed.
   */
  #believedMs(nowMs: number): number {
    const sight = this.#sightOf(this.#log.trimDueMs);
    if (!sight) return -Infinity;
    // Seen by a clock that was ahead of this one: it went wrong then, or does now.
    if (nowMs < sight.atMs) this.#keep(null);
    const confirmedMs = sight.atMs + CONFIRM_MS;
    return nowMs >= confirmedMs ? confirmedMs : -Infinity;
  }

  /** Notes that the oldest segment is too old, if it is. */
  #look(nowMs: number): void {
    const dueMs = this.#log.trimDueMs;
    if (dueMs !== undefined && nowMs >= dueMs && !this.#sightOf(dueMs)) this.#keep({ dueMs, atMs: nowMs });
  }

  /** A room that has nothing to forget keeps nothing for it, and is not asked. */
  #sightOf(dueMs: number | undefined): Sight | null {
    return dueMs !== undefined && this.#sight?.dueMs === dueMs ? this.#sight : null;
  }

  get #sight(): Sight | null {
    return (this.#known ??= (this.#state.get(SIGHT) as Sight | undefined) ?? null);
  }

  #keep(sight: Sight | null): void {
    if (sight) this.#state.put(SIGHT, sight);
    else this.#state.delete(SIGHT);
    this.#known = sight;
  }

  #schedule(): void {
    const dueMs = this.#log.trimDueMs;
    if (dueMs === undefined) return this.#deadline.clear();
    const sight = this.#sightOf(dueMs);
    this.#deadline.set(sight ? sight.atMs + CONFIRM_MS : dueMs);
  }
}
