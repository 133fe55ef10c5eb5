// Keeps why the room does not take the next message now (mute, slow mode, rate limit) and for how long, in the room's time. room-parts.ts
// owns it.
import type { Clock } from "../core/clock.ts";
import type { Hold } from "./state.ts";

/** Timers beyond 24 days fire at once. */
const TIMER_MAX_MS = 86_400_000;

/** The room's clock, from the time in its welcome: clocks of devices are off. */
export class RoomClock {
  readonly #clock: Clock;
  #aheadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param roomNowMs in milliseconds since 1970, from the welcome */
  set(roomNowMs: number | undefined): void {
    if (roomNowMs !== undefined) this.#aheadMs = roomNowMs - this.#clock.now();
  }

  now(): number {
    return this.#clock.now() + this.#aheadMs;
  }

  after(delayMs: number, run: () => void): () => void {
    return this.#clock.after(delayMs, run);
  }
}

export class Holds {
  /** `undefined` from its end on. */
  state: Hold | undefined;
  readonly #clock: Clock;
  readonly #changed: () => void;
  #cancel = (): void => {};

  /** @param clock the room's */
  constructor(clock: Clock, changed: () => void) {
    this.#clock = clock;
    this.#changed = changed;
  }

  /** @param untilMs absent: for an unknown time */
  mute(untilMs = Infinity): void {
    this.#set("MUTED", untilMs);
  }

  lift(): void {
    this.state = undefined;
    this.#cancel();
  }

  /** A message was put off, or failed. */
  refused({ code, retryAfterMs }: { readonly code: string; readonly retryAfterMs?: number }): void {
    if (retryAfterMs !== undefined && code !== "INTERNAL") this.#set(code, this.#clock.now() + retryAfterMs);
  }

  /** @param timestamp when the room took a message */
  sent(timestamp: number, slowModeSeconds: number): void {
    if (slowModeSeconds > 0) this.#set("SLOW_MODE", timestamp + slowModeSeconds * 1000);
    else if (this.state?.code === "RATE_LIMITED") this.lift();
  }

  #set(code: string, untilMs: number): void {
    this.lift();
    this.state = { code, untilMs };
    this.#wait();
  }

  #wait(): void {
    const leftMs = this.state!.untilMs - this.#clock.now();
    if (leftMs <= 0) {
      this.state = undefined;
      return this.#changed();
    }
    if (leftMs < Infinity) this.#cancel = this.#clock.after(Math.min(leftMs, TIMER_MAX_MS), () => this.#wait());
  }
}
