// Decides when to connect again, and when to stop. connection.ts reports successes and failures, and makes the attempts that this
// class calls for.
import { isAboutToken, RETRY_AFTER, RETRY_NEVER } from "../../src/protocol/failures.ts";
import type { Connection } from "./api.ts";
import { retryDelayMs } from "./backoff.ts";
import type { Clock } from "./clock.ts";

/** A connection that lasted so long was a success: the next failure starts with a short wait again. */
const STABLE_MS = 5000;
/** Refused tokens in a row after which the token function is not asked again. */
export const TOKENS_REFUSED_MAX = 3;

export interface Failure {
  /**
   * `lost`: there was a connection, or an attempt that the network ended. `blocked`: a transport does not get through, and
   * another one shall be tried at once. `token`: the token function failed. `refused`: the room refused.
   */
  readonly kind: "lost" | "blocked" | "token" | "refused";
  /** As in CONNECT_ERROR or in the last notice, where there was one. */
  readonly code?: string;
  readonly message: string;
  readonly retryAfterMs?: number;
  /** `retryAfterMs` is for this client alone: the server has spread its clients, so no random part is added. */
  readonly isAppointment?: boolean;
}

interface ReconnectionPorts {
  readonly clock: Clock;
  readonly random: () => number;
  /** Whether the next attempt may come with another token or cookie. */
  readonly mayRenew: boolean;
  readonly attempt: () => void;
  readonly changed: (connection: Connection) => void;
}

export class Reconnection {
  connection: Connection = { state: "stopped", code: "NEW", message: "Not connected yet." };
  readonly #ports: ReconnectionPorts;
  #failures = 0;
  #tokensRefused = 0;
  #connectedAtMs: number | undefined;
  /** No attempt before this time, which the server asked for, also when the page wakes up. */
  #earliestMs = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(ports: ReconnectionPorts) {
    this.#ports = ports;
  }

  /** The application wants to be connected, now. */
  connect(): void {
    if (this.connection.state === "connecting" || this.connection.state === "connected") return;
    this.#failures = 0;
    this.#tokensRefused = 0;
    this.#attempt();
  }

  connected(): void {
    this.#tokensRefused = 0;
    this.#connectedAtMs = this.#ports.clock.now();
    this.#enter({ state: "connected" });
  }

  /** An attempt failed or a connection ended. Several reports of one failure count once. */
  failed(failure: Failure): void {
    const { state } = this.connection;
    if (state !== "connecting" && state !== "connected") return;
    const { clock } = this.#ports;
    if (this.#connectedAtMs !== undefined && clock.now() - this.#connectedAtMs >= STABLE_MS) this.#failures = 0;
    this.#connectedAtMs = undefined;
    if (this.#mayRetry(failure)) return this.#wait(failure);
    this.#enter({ state: "stopped", code: failure.code ?? "ENDED", message: failure.message });
  }

  /** The browser is online or in view again: a good moment to try. */
  wake(): void {
    if (this.connection.state !== "waiting") return;
    const earlyMs = this.#earliestMs - this.#ports.clock.now();
    if (earlyMs > 0) return;
    this.#failures = 0;
    this.#attempt();
  }

  stop(code: string, message: string): void {
    if (this.connection.state !== "stopped") this.#enter({ state: "stopped", code, message });
  }

  #mayRetry({ kind, code, retryAfterMs }: Failure): boolean {
    if (kind !== "refused") return true;
    if (code === undefined) return retryAfterMs !== undefined;
    if (isAboutToken(code)) {
      this.#tokensRefused += 1;
      return this.#ports.mayRenew && this.#tokensRefused < TOKENS_REFUSED_MAX;
    }
    return !RETRY_NEVER.includes(code) && (retryAfterMs !== undefined || RETRY_AFTER.includes(code));
  }

  #wait({ kind, code, message, retryAfterMs = 0, isAppointment = false }: Failure): void {
    const { clock, random } = this.#ports;
    const backoffMs = kind === "blocked" ? 0 : retryDelayMs(this.#failures, random(), retryAfterMs);
    const retryInMs = isAppointment ? retryAfterMs : backoffMs;
    if (kind !== "blocked") this.#failures += 1;
    this.#earliestMs = clock.now() + retryAfterMs;
    this.#enter({ state: "waiting", retryInMs, message, ...(code !== undefined && { code }) });
    // A listener may have changed the state.
    if (this.connection.state === "waiting") this.#cancelTimer ??= clock.after(retryInMs, () => this.#attempt());
  }

  #attempt(): void {
    this.#enter({ state: "connecting" });
    this.#ports.attempt();
  }

  #enter(connection: Connection): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.connection = connection;
    this.#ports.changed(connection);
  }
}
