// A storage of files in memory: keeps keys only, lists a few to a page, and fails on demand. Called by the tests of files.
import type { FileStore, ListedFiles } from "../../src/chat/files/file-sweep.ts";

export class MemoryFiles implements FileStore {
  readonly keys = new Set<string>();
  /** While set, everything fails with it. */
  failure: Error | undefined;
  /** The calls to it. */
  readonly operations: string[] = [];
  readonly pageKeys: number;

  constructor(pageKeys = 3) {
    this.pageKeys = pageKeys;
  }

  /** Each file has 100 bytes. */
  async list(prefix: string, startAfter = ""): Promise<ListedFiles> {
    this.operations.push(`list ${prefix}`);
    if (this.failure) throw this.failure;
    const found = [...this.keys].filter((key) => key.startsWith(prefix) && key > startAfter).toSorted();
    const keys = found.slice(0, this.pageKeys);
    return { keys, sizes: keys.map(() => 100), isEnd: found.length <= this.pageKeys };
  }

  async delete(keys: readonly string[]): Promise<void> {
    this.operations.push(`delete ${keys.length}`);
    if (this.failure) throw this.failure;
    for (const key of keys) this.keys.delete(key);
  }
}
