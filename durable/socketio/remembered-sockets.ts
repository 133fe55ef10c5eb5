// Stores the state of recoverable sockets of one recovery log: a row each, kept until its socket cannot be recovered any more. Called by
// sql-recovery-log.ts.
import type { RememberedSocket } from "../../src/socketio/recovery/recovery.ts";

export class RememberedSockets {
  readonly #kv: SyncKvStorage;
  readonly #prefix: string;
  readonly #windowMs: number;
  /** Sockets that are connected to this instance of the object. */
  readonly #present = new Set<string>();
  #sweptAtMs: number | undefined;

  /** @param prefix in front of the keys of all rows, and of nothing else */
  constructor(kv: SyncKvStorage, prefix: string, windowMs: number) {
    this.#kv = kv;
    this.#prefix = prefix;
    this.#windowMs = windowMs;
  }

  /** Stored as a structured clone, which carries everything that `socket.data` may hold. */
  remember(id: string, socket: RememberedSocket, nowMs: number): void {
    const isGone = socket.goneAtMs !== undefined;
    const comesOrGoes = isGone || !this.#present.has(id);
    if (isGone) this.#present.delete(id);
    else this.#present.add(id);
    this.#kv.put(`${this.#prefix}${id}`, socket);
    // Sweeps only when a row is added or goes: the rows of a room without visitors do not grow.
    if (comesOrGoes) this.#sweep(nowMs);
  }

  recall(id: string): RememberedSocket | undefined {
    return this.#kv.get<RememberedSocket>(`${this.#prefix}${id}`);
  }

  retain(id: string): void {
    this.#present.add(id);
  }

  /** Deletes the rows of sockets that are gone for a window. Sockets that went with an earlier instance are gone from now on. */
  #sweep(nowMs: number): void {
    if (this.#sweptAtMs !== undefined && nowMs - this.#sweptAtMs <= this.#windowMs) return;
    this.#sweptAtMs = nowMs;
    for (const [key, socket] of this.#kv.list<RememberedSocket>({ prefix: this.#prefix })) {
      const { goneAtMs } = socket;
      if (goneAtMs !== undefined && nowMs - goneAtMs > this.#windowMs) this.#kv.delete(key);
      else if (goneAtMs === undefined && !this.#present.has(key.slice(this.#prefix.length))) {
        this.#kv.put(key, { ...socket, goneAtMs: nowMs });
      }
    }
  }
}
