// Decides how soon the next report may follow the last one, by what there is to report. Called by listing.ts.
import { Throttle, type ThrottleState } from "../../clock/throttle.ts";

/** From one report to the next: this long at first, and up to that long in a room that is always busy (LOB-2). */
export const REPORT_WINDOW_MS_MIN = 5000;
export const REPORT_WINDOW_MS_MAX = 60_000;

/** In a room without connections nothing outlives a sleep, so it waits awake: for less than an alarm would cost, twice over. */
export const REPORT_WINDOW_EMPTY_MS = 1000;

/**
 * Levels of news, the most urgent the highest. `aside` wakes no room: another number of connections, failures, a read mark in a
 * conversation. `change` is news for the list. `soon` is news of members where the lobby wants them, or of a conversation.
 */
export const NEWS = { none: 0, aside: 1, change: 2, soon: 3 } as const;
export type News = (typeof NEWS)[keyof typeof NEWS];

export class ReportWindows {
  /** Of its own, lest failures that anybody can provoke hold up what is said. */
  readonly #aside = new Throttle(REPORT_WINDOW_MS_MIN, REPORT_WINDOW_MS_MAX);
  readonly #change = new Throttle(REPORT_WINDOW_MS_MIN, REPORT_WINDOW_MS_MAX);
  readonly #soon = new Throttle(REPORT_WINDOW_MS_MIN);
  readonly #empty = new Throttle(REPORT_WINDOW_EMPTY_MS);

  /** The part that outlives a sleep. */
  get state(): ThrottleState {
    return this.#change.state;
  }

  restore(state: ThrottleState): void {
    this.#change.restore(state);
  }

  dueMs(news: News, isEmpty: boolean, nowMs: number): number {
    if (news <= NEWS.aside) return this.#aside.dueMs(nowMs);
    if (isEmpty) return this.#empty.dueMs(nowMs);
    return news === NEWS.soon ? this.#soon.dueMs(nowMs) : this.#change.dueMs(nowMs);
  }

  /** A report is made. Behind one of an empty room the first one who comes is reported at once. */
  pass(news: News, isEmpty: boolean, nowMs: number): void {
    this.#aside.pass(nowMs);
    if (news <= NEWS.aside) return;
    if (isEmpty) this.#empty.pass(nowMs);
    for (const throttle of [this.#change, this.#soon]) {
      if (isEmpty) throttle.reopen();
      else throttle.pass(nowMs);
    }
  }
}
