// The times of the room's reports: when one is due, after a failure, too, and for when an alarm is set. Called by listing.ts and its sender.
import { type Backoff, Throttle, type ThrottleState } from "../../clock/rates.ts";
import type { SenderState } from "../../chat/room/batch-sender.ts";
import type { Room } from "../../chat/room/room.ts";
import type { LobbyCopy } from "./lobby-copy.ts";
import type { RoomFacts } from "./room-facts.ts";

/** The time from one report to the next: the shortest, and the longest, which a room reaches that is always busy (LOB-2). */
export const REPORT_WINDOW_MS_MIN = 5000;
export const REPORT_WINDOW_MS_MAX = 60_000;

/** The same where the room is empty, or was: no connection remembers what an empty room owes, so it waits awake. */
export const REPORT_WINDOW_EMPTY_MS = 1000;

/** The same while a reader of the room looks at their list of rooms (LOB-9): it waits awake. */
export const REPORT_WINDOW_WATCHED_MS = 2000;

/** An alarm for an owed report is set this much later: the heartbeat of stock clients is sooner, and takes the report along. */
export const REPORT_PATIENCE_MS = 45_000;

/** The waits after failures. */
const RETRY_MS: Backoff = { first: 60_000, max: 3_600_000 };

export class Pace {
  readonly #room: Pick<Room, "clients">;
  readonly #facts: RoomFacts;
  readonly #copy: LobbyCopy;
  readonly #throttle = new Throttle(REPORT_WINDOW_MS_MIN, REPORT_WINDOW_MS_MAX);

  constructor(room: Pick<Room, "clients">, facts: RoomFacts, copy: LobbyCopy) {
    this.#room = room;
    this.#facts = facts;
    this.#copy = copy;
  }

  get state(): ThrottleState {
    return this.#throttle.state;
  }

  /** Users who are announced to are found soon after the lobby is back (ANN-7). */
  get retryMs(): Backoff {
    return this.#copy.wantsPeople ? { ...RETRY_MS, first: REPORT_WINDOW_MS_MIN } : RETRY_MS;
  }

  restore(state: ThrottleState): void {
    this.#throttle.restore(state);
  }

  dueMs(nowMs: number): number {
    const dueMs = this.#throttle.dueMs(nowMs);
    const isWanted = this.#copy.owesListing || this.isAwaited;
    return isWanted ? Math.min(dueMs, this.state.atMs + this.#windowMsMax) : dueMs;
  }

  /** Somebody looks: the room stays awake for what it owes. */
  get isAwaited(): boolean {
    return this.#copy.isWatched && this.#copy.owesNews;
  }

  pass(nowMs: number): void {
    this.#throttle.pass(nowMs);
  }

  /** @returns `undefined` where nothing is worth an alarm */
  alarmMs(state: SenderState): number | undefined {
    const isDue = (state.is === "waiting" || state.is === "retrying") && this.#copy.owesListing;
    if (!isDue) return undefined;
    const isPatient = state.is === "waiting" && this.#windowMsMax === REPORT_WINDOW_MS_MAX;
    return state.atMs + (isPatient ? REPORT_PATIENCE_MS : 0);
  }

  /** The longest window before a change of the list is reported. */
  get #windowMsMax(): number {
    if (this.#room.clients.size === 0 || this.#copy.isEmpty) return REPORT_WINDOW_EMPTY_MS;
    if (this.#copy.isWatched) return REPORT_WINDOW_WATCHED_MS;
    return this.#facts.isDirect || this.#copy.owesPeople ? REPORT_WINDOW_MS_MIN : REPORT_WINDOW_MS_MAX;
  }
}
