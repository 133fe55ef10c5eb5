// A map of the entries set last, for memories that must not grow without bound: known sessions, decisions, copies, counts per address.

export class RecentMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;

  /** @param max entries kept; one more takes the place of the one that was set longest ago */
  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > this.#max) this.delete(oldest!);
    return this;
  }
}
