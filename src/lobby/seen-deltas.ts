// Remembers the last counter delta of each source, so that one that is sent again, because its answer was lost, counts once (MET-2).
import type { CounterDelta } from "../protocol/room-list.ts";

/** Sources that are remembered, in memory only; the storage of a listed room has its last id too. */
const SOURCES_MAX = 10_000;

/** An id that is lower by more than this comes of a clock that was set back. */
const OVERTAKEN_MS_MAX = 60_000;

export class SeenDeltas {
  /** By source, the one that sent last comes last. */
  readonly #lastIds = new Map<string, number>();

  /**
   * @param deltas that were sent together, the oldest first. One that is sent again may be hours older than the newest, so only the
   *   newest shows whether a clock was set back.
   * @param storedId of the last one in storage
   * @returns those to count, which are known the next time
   */
  accept<Told extends Pick<CounterDelta, "id">>(
    source: string,
    deltas: readonly Told[],
    storedId?: number,
  ): readonly Told[] {
    const newest = deltas.at(-1);
    if (!newest) return [];
    const lastId = this.#lastIds.get(source) ?? storedId ?? -Infinity;
    const wasSetBack = lastId - newest.id > OVERTAKEN_MS_MAX;
    const fresh = wasSetBack ? deltas : deltas.filter(({ id }) => id > lastId);
    if (fresh.length > 0) this.#remember(source, newest.id);
    return fresh;
  }

  #remember(source: string, id: number): void {
    this.#lastIds.delete(source);
    this.#lastIds.set(source, id);
    const [oldest] = this.#lastIds.keys();
    if (this.#lastIds.size > SOURCES_MAX) this.#lastIds.delete(oldest!);
  }
}
