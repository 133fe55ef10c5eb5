// Keeps why the room does not accept posts now (mute, slow mode, rate limit) and for how long, in the room's time. The room
// view owns it.
import { duration } from "./times.ts";

/** The room's clock, from the time in its welcome. */
export class RoomClock {
  #aheadMs = 0;

  /** @param roomNow in milliseconds since 1970, from the welcome */
  set(roomNow: number | undefined): void {
    if (roomNow !== undefined) this.#aheadMs = roomNow - Date.now();
  }

  now(): number {
    return Date.now() + this.#aheadMs;
  }
}

export class Cooldown {
  readonly #clock: RoomClock;
  #code = "";
  #until = 0;

  constructor(clock: RoomClock) {
    this.#clock = clock;
  }

  get leftMs(): number {
    return Math.max(0, this.#until - this.#clock.now());
  }

  get isMuted(): boolean {
    return this.#code === "MUTED" && this.leftMs > 0;
  }

  /** The reason to wait, with the time left; empty where there is none. */
  get text(): string {
    const { leftMs } = this;
    if (leftMs === 0) return "";
    const time = Number.isFinite(leftMs) ? ` for ${duration(leftMs)}` : "";
    if (this.#code === "MUTED") return `A moderator muted you${time}`;
    if (this.#code === "SLOW_MODE") return `Slow mode: next message in ${duration(leftMs)}`;
    return `A bit fast: your messages wait${time}`;
  }

  /** When the next message will be sent; empty where nothing delays it. */
  get waiting(): string {
    const { leftMs } = this;
    if (leftMs === 0 || !Number.isFinite(leftMs)) return "";
    return `${this.#code === "SLOW_MODE" ? "Slow mode: sent" : "Sent"} in ${duration(leftMs)}`;
  }

  /** @param until in the room's time; absent: for an unknown time */
  mute(until = Infinity): void {
    this.#set("MUTED", until);
  }

  lift(): void {
    this.#until = 0;
  }

  /** A message was put off, or failed. */
  refused({ code, retryAfterMs }: { readonly code: string; readonly retryAfterMs?: number }): void {
    if (retryAfterMs !== undefined && code !== "INTERNAL") this.#set(code, this.#clock.now() + retryAfterMs);
  }

  /** @param timestamp when the room took a message */
  sent(timestamp: number, slowModeSeconds: number): void {
    if (slowModeSeconds > 0) this.#set("SLOW_MODE", timestamp + slowModeSeconds * 1000);
    else if (this.#code === "RATE_LIMITED") this.lift();
  }

  #set(code: string, until: number): void {
    this.#code = code;
    this.#until = until;
  }
}
