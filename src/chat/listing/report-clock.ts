// The deadlines of a report that waits: along with whatever wakes the room, by an alarm where nothing does, and awake where no
// connection would remember it. Called by listing.ts.
import type { Deadline } from "../../clock/deadlines.ts";
import type { Room } from "../room/room.ts";

/** Moments in milliseconds since 1970; what is absent is not waited for. */
export interface ReportPlan {
  readonly alongMs?: number | undefined;
  readonly latestMs?: number | undefined;
  readonly awakeMs?: number | undefined;
}

export class ReportClock {
  readonly #along: Deadline;
  readonly #latest: Deadline;
  readonly #awake: Deadline;

  constructor({ deadline }: Pick<Room, "deadline">, run: (nowMs: number) => void) {
    this.#along = deadline("lobby", run, { rides: true });
    this.#latest = deadline("lobby-owed", run);
    this.#awake = deadline("lobby-awake", run, { keepsAwake: true });
  }

  get alongMs(): number | undefined {
    return this.#along.atMs;
  }

  /** @returns whether anything changed */
  set({ alongMs, latestMs, awakeMs }: ReportPlan): boolean {
    const isNew = alongMs !== this.#along.atMs || latestMs !== this.#latest.atMs || awakeMs !== this.#awake.atMs;
    setTo(this.#along, alongMs);
    setTo(this.#latest, latestMs);
    setTo(this.#awake, awakeMs);
    return isNew;
  }
}

function setTo(deadline: Deadline, atMs: number | undefined): void {
  if (atMs === undefined) deadline.clear();
  else deadline.set(atMs);
}
