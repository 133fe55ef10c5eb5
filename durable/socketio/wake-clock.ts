// The only clock of an object. Waits for a near moment with a timer, and sets the alarm for a later one, so that the object may sleep
// meanwhile. Called by socket-object.ts.
// Source: https://developers.cloudflare.com/durable-objects/api/alarms/
import type { Deadlines } from "../../src/clock/deadlines.ts";

/** The longest wait for which the object stays awake. A longer one costs more than an alarm (one row written, one request). */
export const AWAKE_WAIT_MS_MAX = 1000;

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
  readonly awakeMsMax: number;
  readonly armDelayMs: number;
}

export const WAITING: Waiting = { awakeMsMax: AWAKE_WAIT_MS_MAX, armDelayMs: ARM_DELAY_MS };

/** Never awake for a deadline, however near: for tests that put an object to sleep, which has to wait for its timers. */
export const WAITING_ASLEEP: Waiting = { awakeMsMax: 0, armDelayMs: 0 };

export class WakeClock {
  readonly #waiting: Waiting;
  readonly #storage: DurableObjectStorage;
  readonly #deadlines: Deadlines;
  readonly #fire: () => void;
  readonly #hold: () => () => void;
  readonly #rest: () => void;
  #alarmAtMs: number | null = null;
  #timer: number | null = null;
  #timerAtMs = Infinity;
  #release = (): void => {};
  #isStopped = false;
  #isStale = false;
  /** Whether the alarm that is set is one of an instance that died. */
  #isLegacy = false;

  /**
   * @param fire called when something is due; it runs it
   * @param hold called when a timer starts, which keeps the object awake until the returned function is called
   * @param rest called when a timer has set an alarm: the object may fall asleep after it
   */
  constructor(
    storage: DurableObjectStorage,
    deadlines: Deadlines,
    fire: () => void,
    {
      waiting = WAITING,
      hold = () => () => {},
      rest = () => {},
    }: { waiting?: Waiting | undefined; hold?: () => () => void; rest?: () => void } = {},
  ) {
    this.#waiting = waiting;
    this.#hold = hold;
    this.#rest = rest;
    this.#storage = storage;
    this.#deadlines = deadlines;
    this.#fire = fire;
  }

  /**
   * Learns which alarm was set before the object slept, and looks after the deadlines from then on.
   * @param mayHaveDied no connection is left that the alarm may have been set for: it has to fire once all the same
   */
  async wake({ mayHaveDied = false }: { readonly mayHaveDied?: boolean } = {}): Promise<void> {
    this.#alarmAtMs = await this.#storage.getAlarm();
    this.#isLegacy = mayHaveDied && this.#alarmAtMs !== null;
    this.#deadlines.watch(() => this.#scheduleSoon());
    this.#schedule();
  }

  /**
   * Once for all changes up to the end of the running code: an input, a method called by RPC, or the code after an await in a
   * handler.
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
    if (this.#isAwake || nextMs - nowMs <= this.#waiting.awakeMsMax)
      return this.#setTimer(nextMs, nowMs, () => this.#meet());
    if (this.#isArmedFor(nextMs)) return this.#clearTimer();
    const { armDelayMs } = this.#waiting;
    if (armDelayMs === 0) return void this.#armAndRest();
    const atMs = this.#isWaitedFor(nowMs) ? this.#deadlines.alarmFromMs() : nowMs;
    this.#setTimer(Math.max(nowMs + armDelayMs, atMs), nowMs, () => void this.#armAndRest());
  }

  /** For a moment: where the clock was set back, it would be for long. */
  #isWaitedFor(nowMs: number): boolean {
    const waitMs = this.#deadlines.alarmFromMs() - nowMs;
    return this.#waiting.armDelayMs > 0 && waitMs > 0 && waitMs <= AWAKE_WAIT_MS_MAX;
  }

  get #isAwake(): boolean {
    return this.#deadlines.nextAwake() !== undefined;
  }

  #meet(): void {
    this.#fire();
    // A timer may come a moment early, and then nothing has changed that would make us look again.
    this.#schedule();
  }

  /**
   * Whether the alarm that is set will do. One whose deadline has dissolved since would wake the object for
   * nothing, and be set again then: setting it again now costs the same row and lets the object sleep.
   */
  #isArmedFor(nextMs: number): boolean {
    if (this.#alarmAtMs === null || this.#alarmAtMs > nextMs) return false;
    return this.#isLegacy || this.#alarmAtMs > nextMs - AWAKE_WAIT_MS_MAX;
  }

  /** The alarm went off, so none is set now. */
  alarmFired(): void {
    this.#alarmAtMs = null;
    this.#isLegacy = false;
  }

  /** Sets the alarm for the next deadline, unless it is set for it. */
  async arm(): Promise<void> {
    const nextMs = this.#isStopped ? undefined : this.#deadlines.next();
    if (nextMs === undefined) return;
    // Or something has come up meanwhile that is waited for awake.
    const nowMs = Date.now();
    if (this.#isAwake || this.#isWaitedFor(nowMs) || nextMs - nowMs <= this.#waiting.awakeMsMax)
      return this.#schedule();
    if (this.#isArmedFor(nextMs)) return;
    this.#alarmAtMs = nextMs;
    this.#isLegacy = false;
    try {
      await this.#storage.setAlarm(nextMs);
    } catch {
      // Storage is in trouble: nothing is set, so the next turn, or this timer, tries again.
      this.#alarmAtMs = null;
      this.#setTimer(Date.now() + RETRY_MS, Date.now(), () => void this.#armAndRest());
    }
  }

  async #armAndRest(): Promise<void> {
    await this.arm();
    this.#rest();
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
    this.#release = this.#hold();
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
    this.#release();
    this.#timer = null;
    this.#timerAtMs = Infinity;
  }
}
