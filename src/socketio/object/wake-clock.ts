// Runs the deadlines of an object in time: waits for a near one with a timer, and sets the alarm for a later one, so that the object may
// sleep meanwhile. Called by socket-object.ts and features/directory/object.ts.
// Source: https://developers.cloudflare.com/durable-objects/api/alarms/
import type { Deadlines } from "../../clock/deadlines.ts";

/** The longest wait for which the object stays awake. A longer one costs more than an alarm (one row written, one request). */
export const AWAKE_WAIT_MS_MAX = 1000;

/**
 * An alarm is set only after this much quiet. Most new deadlines are cleared soon (by the CONNECT that follows an upgrade), and one row
 * serves a burst of others.
 */
export const ARM_DELAY_MS = 250;

/** The wait before another try to set an alarm. */
const RETRY_MS = 5000;

export class WakeClock {
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
  /** Whether the alarm was set by an instance that died. */
  #isInherited = false;

  /**
   * @param fire called when a deadline is due; runs it
   * @param hold called when a timer starts; the object is awake until the returned function is called
   * @param rest called when a timer has set an alarm; the object may sleep after it
   */
  constructor(
    storage: DurableObjectStorage,
    deadlines: Deadlines,
    fire: () => void,
    { hold = () => () => {}, rest = () => {} }: { hold?: () => () => void; rest?: () => void } = {},
  ) {
    this.#hold = hold;
    this.#rest = rest;
    this.#storage = storage;
    this.#deadlines = deadlines;
    this.#fire = fire;
  }

  /**
   * Reads the alarm that was set before the object slept, and watches the deadlines from then on.
   * @param mayHaveDied whether the object has no connection any more. Its alarm may have been set for a
   *   connection that is gone, and is kept until it fires
   */
  async wake({ mayHaveDied = false }: { readonly mayHaveDied?: boolean } = {}): Promise<void> {
    this.#alarmAtMs = await this.#storage.getAlarm();
    this.#isInherited = mayHaveDied && this.#alarmAtMs !== null;
    this.#deadlines.watch(() => {
      if (this.#isStale) return;
      this.#isStale = true;
      // Once for all changes up to the end of the running code: an input, a call by RPC, or the code after an await in a handler.
      // Not by `queueMicrotask`: a call of the platform costs more time than the rest of this function.
      void Promise.resolve().then(() => this.#isStale && this.#schedule());
    });
    this.#schedule();
  }

  /** Sets the timer or the alarm for the next deadline, and stops a timer that is not needed. */
  #schedule(): void {
    this.#isStale = false;
    const nextMs = this.#isStopped ? undefined : this.#deadlines.next();
    if (nextMs === undefined) return this.#clearTimer();
    const nowMs = Date.now();
    const isNear = nextMs - nowMs <= AWAKE_WAIT_MS_MAX;
    const survivingMs = this.#deadlines.nextSurviving();
    if (survivingMs < (this.#alarmAtMs ?? Infinity)) void this.#setAlarm(isNear ? survivingMs : nextMs);
    // While another deadline keeps the object awake, a timer costs nothing more.
    if (this.#isAwake || isNear) {
      return this.#setTimer(nextMs, nowMs, () => {
        this.#fire();
        // A timer may come a moment early; then no deadline has changed, which would schedule again.
        this.#schedule();
      });
    }
    if (this.#isArmedFor(nextMs)) return this.#clearTimer();
    const atMs = this.#isWaitedFor(nowMs) ? this.#deadlines.alarmFromMs() : nowMs;
    this.#setTimer(Math.max(nowMs + ARM_DELAY_MS, atMs), nowMs, () => void this.#armAndRest());
  }

  /** Whether the next deadline will probably be cleared soon (`alarmWithinMs`), so that its alarm should wait; not after a clock was set back. */
  #isWaitedFor(nowMs: number): boolean {
    const waitMs = this.#deadlines.alarmFromMs() - nowMs;
    return waitMs > 0 && waitMs <= AWAKE_WAIT_MS_MAX;
  }

  get #isAwake(): boolean {
    return this.#deadlines.nextAwake() !== undefined;
  }

  /**
   * Whether the alarm is right for the next deadline. If the deadline of the alarm was cleared, the alarm would wake the object in vain and
   * be set again then; to set it again now costs the same row, and lets the object sleep.
   */
  #isArmedFor(nextMs: number): boolean {
    if (this.#alarmAtMs === null || this.#alarmAtMs > nextMs) return false;
    return this.#isInherited || this.#alarmAtMs > nextMs - AWAKE_WAIT_MS_MAX;
  }

  /** Called when the alarm fires: none is set any more. */
  alarmFired(): void {
    this.#alarmAtMs = null;
    this.#isInherited = false;
  }

  /** Called after an alarm: sets the one for the next deadline that no timer waits for, so that the object may sleep after its timers. */
  async arm(): Promise<void> {
    await this.#armNext();
    const laterMs = this.#isStopped || this.#isAwake ? undefined : this.#deadlines.next(Date.now() + AWAKE_WAIT_MS_MAX);
    if (laterMs !== undefined && !this.#isWaitedFor(Date.now()) && !this.#isArmedFor(laterMs))
      await this.#setAlarm(laterMs);
  }

  /** Sets the alarm for the next deadline, unless it is set. */
  async #armNext(): Promise<void> {
    const nextMs = this.#isStopped ? undefined : this.#deadlines.next();
    if (nextMs === undefined) return;
    // A near deadline may have come up meanwhile.
    const nowMs = Date.now();
    if (this.#isAwake || this.#isWaitedFor(nowMs) || nextMs - nowMs <= AWAKE_WAIT_MS_MAX) return this.#schedule();
    if (!this.#isArmedFor(nextMs)) await this.#setAlarm(nextMs);
  }

  async #setAlarm(atMs: number): Promise<void> {
    this.#alarmAtMs = atMs;
    this.#isInherited = false;
    try {
      await this.#storage.setAlarm(atMs);
    } catch {
      // No alarm is set, so the next turn, or this timer, tries again.
      this.#alarmAtMs = null;
      this.#setTimer(Date.now() + RETRY_MS, Date.now(), () => void this.#armAndRest());
    }
  }

  async #armAndRest(): Promise<void> {
    await this.#armNext();
    this.#rest();
  }

  /** Called when another clock takes over, or a test evicts the object. */
  stop(): void {
    this.#isStopped = true;
    this.#clearTimer();
  }

  #setTimer(atMs: number, nowMs: number, run: () => void): void {
    // An earlier timer stays: each timer looks for the next deadline again when it fires.
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
