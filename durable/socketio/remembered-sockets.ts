// What comes back with the sockets of one recovery log besides what they missed: a row each, kept until nobody can
// come back for it any more.
import type { RememberedSocket } from "../../src/socketio/recovery/recovery.ts";

export class RememberedSockets {
  readonly #kv: SyncKvStorage;
  readonly #prefix: string;
  readonly #windowMs: number;
  /** Sockets that are there, in this life of the object. */
  readonly #present = new Set<string>();
  #sweptAtMs: number | undefined;

  /** @param prefix in front of the keys of all rows, and of nothing else */
  constructor(kv: SyncKvStorage, prefix: string, windowMs: number) {
    this.#kv = kv;
    this.#prefix = prefix;
    this.#windowMs = windowMs;
  }

  /** Kept as a structured clone, which carries whatever `socket.data` may hold. */
  remember(id: string, socket: RememberedSocket, nowMs: number): void {
    const isGone = socket.goneAtMs !== undefined;
    const comesOrGoes = isGone || !this.#present.has(id);
    if (isGone) this.#present.delete(id);
    else this.#present.add(id);
    this.#kv.put(`${this.#prefix}${id}`, socket);
    // Whoever adds a row takes care of the others: what is left of a room that nobody enters does not grow.
    if (comesOrGoes) this.#sweep(nowMs);
  }

  recall(id: string): RememberedSocket | undefined {
    return this.#kv.get<RememberedSocket>(`${this.#prefix}${id}`);
  }

  retain(id: string): void {
    this.#present.add(id);
  }

  /** Forgets those who have been gone for a window. Whoever went with an earlier life of the object is gone from now on. */
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
