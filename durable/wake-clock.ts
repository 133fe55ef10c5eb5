// The only clock of an object. A moment within reach is waited for with a timer; a later one is left to
// the alarm, so that the object may sleep meanwhile.
// Source: https://developers.cloudflare.com/durable-objects/api/alarms/
import type { Deadlines } from "../src/socketio/deadlines.ts";

/** Further away than this, waiting awake costs more than an alarm (one row written, one request). */
export const TIMER_MS_MAX = 1000;

/**
 * An alarm is set only after this much quiet: most new deadlines dissolve at once (the CONNECT that
 * follows an upgrade), and one row then serves a whole burst of them.
 */
const ARM_DELAY_MS = 250;

/** An alarm that could not be set is tried again after this. */
const RETRY_MS = 5000;

/** How an object waits. */
export interface Waiting {
  /** Deadlines at most this near are waited for awake, with a timer. */
  readonly timerMsMax: number;
  readonly armDelayMs: number;
}

export const WAITING: Waiting = { timerMsMax: TIMER_MS_MAX, armDelayMs: ARM_DELAY_MS };

/** Never awake for a deadline, however near: for tests that put an object to sleep, which has to wait for its timers. */
export const WAITING_ASLEEP: Waiting = { timerMsMax: 0, armDelayMs: 0 };

export class WakeClock {
  readonly #waiting: Waiting;
  readonly #storage: DurableObjectStorage;
  readonly #deadlines: Deadlines;
  readonly #fire: () => void;
  #alarmAtMs: number | null = null;
  #timer: number | null = null;
  #timerAtMs = Infinity;
  #isStopped = false;
  #isStale = false;

  /** @param fire called when something is due; it runs it */
  constructor(storage: DurableObjectStorage, deadlines: Deadlines, fire: () => void, waiting = WAITING) {
    this.#waiting = waiting;
    this.#storage = storage;
    this.#deadlines = deadlines;
    this.#fire = fire;
  }

  /** Learns which alarm was set before the object slept, and looks after the deadlines from then on. */
  async wake(): Promise<void> {
    this.#alarmAtMs = await this.#storage.getAlarm();
    this.#deadlines.watch(() => this.#scheduleSoon());
    this.#schedule();
  }

  /**
   * Once for all that changes by the end of the running code, whatever runs it: an input, a method called by RPC, or
   * what follows an await in a handler.
   */
  #scheduleSoon(): void {
    if (this.#isStale) return;
    this.#isStale = true;
    queueMicrotask(() => this.#isStale && this.#schedule());
  }

  /** Makes sure that the next deadline will be met, and that nothing else keeps us awake. */
  #schedule(): void {
    this.#isStale = false;
    const nextMs = this.#isStopped ? undefined : this.#deadlines.next();
    if (nextMs === undefined) return this.#clearTimer();
    const nowMs = Date.now();
    // Where something else keeps the object awake anyway, waiting costs nothing more.
    const isAwake = this.#deadlines.nextAwake() !== undefined;
    if (isAwake || nextMs - nowMs <= this.#waiting.timerMsMax) return this.#setTimer(nextMs, nowMs, () => this.#meet());
    if (this.#isArmedFor(nextMs)) return this.#clearTimer();
    if (this.#waiting.armDelayMs === 0) return void this.arm();
    this.#setTimer(nowMs + this.#waiting.armDelayMs, nowMs, () => void this.arm());
  }

  #meet(): void {
    this.#fire();
    // A timer may come a moment early, and then nothing has changed that would make us look again.
    this.#schedule();
  }

  /**
   * Whether the alarm that is set will do. One whose deadline has dissolved since would wake the object for
   * nothing, and be set anew then: setting it anew now costs the same row and lets the object sleep.
   */
  #isArmedFor(nextMs: number): boolean {
    return this.#alarmAtMs !== null && this.#alarmAtMs <= nextMs && this.#alarmAtMs > nextMs - TIMER_MS_MAX;
  }

  /** The alarm went off, so none is set now. */
  alarmFired(): void {
    this.#alarmAtMs = null;
  }

  /** Sets the alarm for the next deadline, unless it is set for it. */
  async arm(): Promise<void> {
    const nextMs = this.#isStopped ? undefined : this.#deadlines.next();
    if (nextMs === undefined) return;
    if (nextMs - Date.now() <= this.#waiting.timerMsMax) return this.#schedule();
    if (this.#isArmedFor(nextMs)) return;
    this.#alarmAtMs = nextMs;
    try {
      await this.#storage.setAlarm(nextMs);
    } catch {
      // Storage is in trouble: nothing is set, so the next turn, or this timer, tries again.
      this.#alarmAtMs = null;
      this.#setTimer(Date.now() + RETRY_MS, Date.now(), () => void this.arm());
    }
  }

  /** For good: another clock takes over. */
  stop(): void {
    this.#isStopped = true;
    this.#clearTimer();
  }

  #setTimer(atMs: number, nowMs: number, run: () => void): void {
    if (this.#timer !== null && this.#timerAtMs <= atMs) return;
    this.#clearTimer();
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(
      () => {
        this.#clearTimer();
        run();
      },
      Math.max(0, atMs - nowMs),
    );
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#timerAtMs = Infinity;
  }
}
