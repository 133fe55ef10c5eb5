// A search index in memory: the port of search without SQLite. Called by chat-room.ts.
import {
  INDEX_SHAPE,
  type IndexBlock,
  type IndexPart,
  type IndexTerm,
  type SearchIndex,
} from "../../src/features/search/search-index.ts";

export class MemoryIndex implements SearchIndex {
  readonly #blocks = new Map<IndexPart, Map<number, ReadonlySet<string>>>();
  shape = INDEX_SHAPE;
  /** While set, everything but `parts` fails with it. */
  failure: Error | undefined;
  /** Rows that a table for it would have cost. */
  rowsWritten = 0;

  get parts(): readonly IndexPart[] {
    return [...this.#blocks.keys()].sort((a, b) => a.firstSeq - b.firstSeq);
  }

  /** All that is kept. */
  get terms(): string[] {
    return [...this.#blocks.values()].flatMap((blocks) => [...blocks.values()].flatMap((terms) => [...terms]));
  }

  add(part: IndexPart, blocks: Iterable<IndexBlock>): void {
    if (this.failure) throw this.failure;
    if (this.parts.some((other) => other.firstSeq <= part.lastSeq && part.firstSeq <= other.lastSeq))
      throw new Error("parts overlap");
    const added = new Map([...blocks].map(({ firstSeq, terms }) => [firstSeq, new Set(terms)]));
    this.rowsWritten += added.size + 1;
    this.#blocks.set(part, added);
  }

  find(part: IndexPart, terms: readonly IndexTerm[], before: number): number[] {
    if (this.failure) throw this.failure;
    const holds = (block: ReadonlySet<string>, { text, isPrefix }: IndexTerm): boolean =>
      isPrefix ? [...block].some((term) => term.startsWith(text)) : block.has(text);
    return [...this.#blocks.get(part)!]
      .filter(([firstSeq, block]) => firstSeq < before && terms.every((term) => holds(block, term)))
      .map(([firstSeq]) => firstSeq)
      .sort((a, b) => b - a);
  }

  drop(part: IndexPart): void {
    if (this.failure) throw this.failure;
    this.#blocks.delete(part);
  }

  erase(part: IndexPart): void {
    this.drop(part);
  }
}
