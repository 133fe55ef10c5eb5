// Values that a room keeps on its members' connections, where they outlive its sleep and cost no row. When the holder of a value
// goes, another connection takes it over. Used by parts that have something to remember for the room or for a user.
import type { Client, Room } from "./room.ts";
import type { Slot } from "./room-part.ts";

export interface CarriedOptions<Item> {
  readonly slot: Slot<readonly Item[]>;
  /** The key of an item; each key has one holder. */
  readonly keyOf: (item: Item, holder: Client) => string;
  /** Connections that may hold it, the preferred ones first; by default all. */
  readonly holdersOf?: (key: string) => Iterable<Client>;
  /** Items that one connection holds at most. */
  readonly perHolder: number;
}

interface Held<Item> {
  item: Item;
  holder: Client;
}

export class Carried<Item> {
  readonly #room: Pick<Room, "clients">;
  readonly #options: CarriedOptions<Item>;
  readonly #held = new Map<string, Held<Item>>();

  constructor(room: Pick<Room, "clients">, options: CarriedOptions<Item>) {
    this.#room = room;
    this.#options = options;
  }

  get size(): number {
    return this.#held.size;
  }

  *items(): Iterable<Item> {
    for (const { item } of this.#held.values()) yield item;
  }

  /** Keeps an item in place of the one with the same key. @returns whether a connection had room for it */
  put(key: string, item: Item): boolean {
    const known = this.#held.get(key);
    const isHolderHere = known !== undefined && this.#room.clients.get(known.holder.id) === known.holder;
    const holder = isHolderHere ? known.holder : this.#findHolder(key);
    if (!holder) {
      this.#held.delete(key);
      return false;
    }
    this.#options.slot.set(holder, [...this.#othersOn(holder, key), item]);
    if (known) {
      known.item = item;
      known.holder = holder;
    } else this.#held.set(key, { item, holder });
    return true;
  }

  #findHolder(key: string): Client | undefined {
    const { slot, holdersOf, perHolder } = this.#options;
    for (const client of holdersOf?.(key) ?? this.#room.clients.values()) {
      if ((slot.get(client)?.length ?? 0) < perHolder) return client;
    }
    return undefined;
  }

  #othersOn(holder: Client, key: string): readonly Item[] {
    const { slot, keyOf } = this.#options;
    return slot.get(holder)?.filter((item) => keyOf(item, holder) !== key) ?? [];
  }

  delete(key: string): void {
    const held = this.#held.get(key);
    if (!held) return;
    this.#held.delete(key);
    const others = this.#othersOn(held.holder, key);
    this.#options.slot.set(held.holder, others.length > 0 ? others : undefined);
  }

  /** A connection is still there after sleep. @returns the items that it holds */
  restore(holder: Client): readonly Item[] {
    const items = this.#options.slot.get(holder) ?? [];
    for (const item of items) this.#held.set(this.#options.keyOf(item, holder), { item, holder });
    return items;
  }

  /** A connection went: others take over its items. @returns the items for which there is no other holder */
  release(holder: Client): readonly Item[] {
    const lost: Item[] = [];
    for (const item of this.#options.slot.get(holder) ?? []) {
      const key = this.#options.keyOf(item, holder);
      if (this.#held.get(key)?.holder !== holder) continue;
      this.#held.delete(key);
      if (!this.put(key, item)) lost.push(item);
    }
    return lost;
  }

  clear(): void {
    this.#held.clear();
  }
}
