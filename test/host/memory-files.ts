// A storage of files in memory: keeps keys only, lists a few to a page, and fails on demand. Called by the tests of files.
import type { FileStore } from "../../src/chat/files/file-sweep.ts";

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

  async list(prefix: string, startAfter = ""): Promise<{ keys: string[]; isEnd: boolean }> {
    this.operations.push(`list ${prefix}`);
    if (this.failure) throw this.failure;
    const found = [...this.keys].filter((key) => key.startsWith(prefix) && key > startAfter).toSorted();
    return { keys: found.slice(0, this.pageKeys), isEnd: found.length <= this.pageKeys };
  }

  async delete(keys: readonly string[]): Promise<void> {
    this.operations.push(`delete ${keys.length}`);
    if (this.failure) throw this.failure;
    for (const key of keys) this.keys.delete(key);
  }
}
