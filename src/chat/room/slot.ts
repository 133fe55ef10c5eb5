// One value that a feature keeps on a member's connection, where it outlives the room's sleep. A feature declares its slots in
// its own folder; no other feature reads them.
import type { Client, Membership } from "./room.ts";

export class Slot<Value> {
  readonly #name: string;

  /** @param name unique among the slots of all features; short, because each connection's record holds it */
  constructor(name: string) {
    this.#name = name;
  }

  get(client: Pick<Client, "peek">): Value | undefined {
    return valuesOf(client.peek())[this.#name] as Value | undefined;
  }

  /** @param value plain data; `undefined` empties the slot */
  set(client: Pick<Client, "data">, value: Value | undefined): void {
    this.put(client.data, value);
  }

  /** The same for a connection that is about to be made. */
  put(membership: Membership, value: Value | undefined): void {
    const values = valuesOf(membership);
    if (value === undefined) delete values[this.#name];
    else values[this.#name] = value;
  }
}

const valuesOf = (membership: Membership): Record<string, unknown> => membership as unknown as Record<string, unknown>;
