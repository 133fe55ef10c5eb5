// Counts the work of this isolate of the Worker, and sends the counter deltas to a lobby some seconds later, in one call for all requests
// of that time and outside of their answers (MET-3). Made by src/worker/deployment.ts; answers-counted.ts and the queues' consumers
// count with it.
import { hasPassed } from "../../clock/rates.ts";
import type { LobbyRpc } from "../../rpc/lobby.ts";
import { Meter } from "../../metrics/meter.ts";
import { lobbyOf, type CounterDelta } from "../../protocol/room-list.ts";
import type { Bindings } from "../../rpc/bindings.ts";

/** Keeps an isolate at work after its answer. */
export type Later = Pick<ExecutionContext, "waitUntil">;

/** From the first count to the report. An isolate that dies loses its counts since the last one. */
export const SEND_AFTER_MS = 10_000;

/** The platform ends longer waits: an older one has been dropped. */
const WAITING_MS_MAX = 30_000;

export class WorkerMeter extends Meter {
  readonly #lobbyRpc: () => LobbyRpc | undefined;
  readonly #source = `worker ${crypto.randomUUID()}`;
  #pending: CounterDelta | undefined;
  #lastId = 0;
  #waitingSinceMs = -Infinity;
  #sentAtMs = -Infinity;

  constructor({ LOBBY }: Pick<Bindings, "LOBBY">, lobbies: number) {
    super();
    const name = lobbyOf(this.#source, lobbies);
    this.#lobbyRpc = () => LOBBY?.getByName(name);
  }

  /** Schedules a report of the counts. */
  sendLater(later: Later): void {
    const nowMs = Date.now();
    if (this.isEmpty || !hasPassed(this.#waitingSinceMs, WAITING_MS_MAX, nowMs)) return;
    this.#waitingSinceMs = nowMs;
    later.waitUntil(
      new Promise((resolve) => setTimeout(resolve, SEND_AFTER_MS)).then(() => {
        this.#waitingSinceMs = -Infinity;
        return this.send();
      }),
    );
  }

  /** For consumers of queues, whose batch ends with the last wait: reports at once, at most every SEND_AFTER_MS. */
  async sendSometimes(): Promise<void> {
    if (hasPassed(this.#sentAtMs, SEND_AFTER_MS, Date.now())) await this.send();
  }

  /** Reports now. A delta that fails goes out the next time under the same number, so that it counts once. */
  async send(): Promise<void> {
    const lobby = this.#lobbyRpc();
    if (!lobby) return;
    if (!this.#pending && !this.isEmpty) {
      this.#lastId = Math.max(Date.now(), this.#lastId + 1);
      this.#pending = { id: this.#lastId, counts: this.take() };
    }
    const pending = this.#pending;
    if (!pending) return;
    this.#sentAtMs = Date.now();
    try {
      await lobby.count(this.#source, pending);
      if (this.#pending === pending) this.#pending = undefined;
    } catch {
      // The next one tries again.
    }
  }
}
