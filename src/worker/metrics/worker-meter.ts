// What this isolate of the Worker has counted: told to a lobby some seconds later, for all requests of that time at once, and
// off the path of each of them (MET-3).
import { hasPassed } from "../../clock/has-passed.ts";
import type { LobbyRpc } from "../../rpc/lobby.ts";
import { Meter } from "../../metrics/meter.ts";
import { lobbyOf, type CounterDelta } from "../../protocol/room-list.ts";
import type { Bindings } from "../../rpc/bindings.ts";

/** What keeps an isolate at work after its answer. */
export type Later = Pick<ExecutionContext, "waitUntil">;

/** From the first that is counted to the telling. What an isolate counted since is lost when it dies. */
export const TELL_AFTER_MS = 10_000;

/** The platform lets nothing wait for longer: who waited before is gone then. */
const WAITING_MS_MAX = 30_000;

export class WorkerMeter extends Meter {
  readonly #lobbyRpc: () => LobbyRpc | undefined;
  readonly #source = `worker ${crypto.randomUUID()}`;
  #told: CounterDelta | undefined;
  #lastId = 0;
  #waitingSinceMs = -Infinity;
  #toldAtMs = -Infinity;

  constructor({ LOBBY }: Pick<Bindings, "LOBBY">, lobbies: number) {
    super();
    const name = lobbyOf(this.#source, lobbies);
    this.#lobbyRpc = () => LOBBY?.getByName(name);
  }

  /** Sees to it that what was counted is told soon. */
  tellLater(later: Later): void {
    const nowMs = Date.now();
    if (this.isEmpty || !hasPassed(this.#waitingSinceMs, WAITING_MS_MAX, nowMs)) return;
    this.#waitingSinceMs = nowMs;
    later.waitUntil(
      new Promise((resolve) => setTimeout(resolve, TELL_AFTER_MS)).then(() => {
        this.#waitingSinceMs = -Infinity;
        return this.tell();
      }),
    );
  }

  /** For a batch of a queue, which ends with the last that waits: at once, but not every time. */
  async tellSometimes(): Promise<void> {
    if (hasPassed(this.#toldAtMs, TELL_AFTER_MS, Date.now())) await this.tell();
  }

  /** Tells it now. What cannot be told is told the next time, under the same number, so that it counts once. */
  async tell(): Promise<void> {
    const lobby = this.#lobbyRpc();
    if (!lobby) return;
    if (!this.#told && !this.isEmpty) {
      this.#lastId = Math.max(Date.now(), this.#lastId + 1);
      this.#told = { id: this.#lastId, counts: this.take() };
    }
    const told = this.#told;
    if (!told) return;
    this.#toldAtMs = Date.now();
    try {
      await lobby.count(this.#source, told);
      if (this.#told === told) this.#told = undefined;
    } catch {
      // The next one tries again.
    }
  }
}
