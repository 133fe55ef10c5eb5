// Gathers what a room sends to its shards in a turn, and makes chunks of it: items in a row for the same shards are one, encoded once. Made
// by reach.ts.
import type { LogPosition, ShardItem, ShardChunk } from "../../protocol/shards.ts";
import { encodeValue, hasBytes, ITEM_LEVELS_MAX } from "../../socketio/wire/value-text.ts";

interface Gathered {
  /** The only shard that it is for. */
  readonly to: number | undefined;
  /** JSON. */
  readonly item: string;
  /** The log once it was made. */
  readonly after: LogPosition;
}

export class Chunks {
  readonly #now: () => LogPosition;
  readonly #push: (chunk: ShardChunk) => void;
  /** The log before the gathered items. */
  #position!: LogPosition;
  #gathered: Gathered[] = [];
  #chars = 0;

  /** @param now the position in the log at present */
  constructor(now: () => LogPosition, push: (chunk: ShardChunk) => void) {
    this.#now = now;
    this.#push = push;
  }

  /** The first shard is reached: chunks follow on the present position. */
  begin(): void {
    this.#position = this.#now();
  }

  /** Characters that were gathered in this turn. */
  get chars(): number {
    return this.#chars;
  }

  /** @throws TypeError, RangeError for an item that cannot be sent. It would take the others of its turn along. */
  add(item: ShardItem, to?: number): void {
    const encoded = encodeValue(item, ITEM_LEVELS_MAX)!;
    const text = hasBytes(encoded) ? JSON.stringify(encoded) : encoded;
    this.#chars += text.length;
    this.#gathered.push({ to, item: text, after: this.#now() });
  }

  /** Sends a chunk without items, by which shards meet this run of the room. */
  greet(): void {
    this.#push({ before: this.#position, after: this.#position, items: "[]" });
  }

  /** @returns whether there was anything to send */
  send(): boolean {
    const gathered = this.#gathered.splice(0);
    this.#chars = 0;
    for (let from = 0; from < gathered.length;) {
      const { to } = gathered[from]!;
      const next = gathered.findIndex((item, at) => at > from && item.to !== to);
      const some = gathered.slice(from, next < 0 ? undefined : next);
      const { after } = some.at(-1)!;
      const items = `[${some.map(({ item }) => item).join()}]`;
      this.#push({ before: this.#position, after, items, ...(to !== undefined && { to }) });
      this.#position = after;
      from += some.length;
    }
    return gathered.length > 0;
  }
}
