// The client's heartbeat in an extended session (EXT-3): it sends beats, and reports the connection as dead when a beat stays
// without an answer. extended-transports.ts uses it.
import type { Clock } from "./clock.ts";

/** How long an answer may take after the page came back into view, in ms. */
export const PROBE_TIMEOUT_MS = 5000;

interface HeartbeatPorts {
  readonly clock: Clock;
  readonly beat: () => void;
  readonly dead: () => void;
}

export class Heartbeat {
  readonly #ports: HeartbeatPorts;
  #timeoutMs: number | undefined;
  #cancelBeats: (() => void) | undefined;
  #cancelDeadline: (() => void) | undefined;

  constructor(ports: HeartbeatPorts) {
    this.#ports = ports;
  }

  start(intervalMs: number, timeoutMs: number): void {
    this.stop();
    this.#timeoutMs = timeoutMs;
    this.#schedule(intervalMs, timeoutMs);
  }

  /** Anything at all has arrived. */
  heard(): void {
    this.#cancelDeadline?.();
    this.#cancelDeadline = undefined;
  }

  /** Beats now and does not wait as long for the answer. */
  probe(): void {
    if (this.#timeoutMs === undefined) return;
    this.heard();
    this.#beat(Math.min(PROBE_TIMEOUT_MS, this.#timeoutMs));
  }

  stop(): void {
    this.#timeoutMs = undefined;
    this.#cancelBeats?.();
    this.heard();
  }

  #schedule(intervalMs: number, timeoutMs: number): void {
    this.#cancelBeats = this.#ports.clock.after(intervalMs, () => {
      this.#schedule(intervalMs, timeoutMs);
      this.#beat(timeoutMs);
    });
  }

  #beat(withinMs: number): void {
    // An older beat that waits for its answer keeps its deadline.
    this.#cancelDeadline ??= this.#ports.clock.after(withinMs, () => {
      this.stop();
      this.#ports.dead();
    });
    this.#ports.beat();
  }
}
