// Caches file-read permissions per user and room for a minute (FILE-4). A page shows many images again and again; without the cache each
// of them would wake the room. Called by reading.ts.

/** After a ban or a deletion of the room, files are served no longer than this. */
export const READER_MS = 60_000;

/** Permissions kept in memory; the oldest go first. */
const READERS_MAX = 10_000;

export class FileReaders {
  readonly #untilMs = new Map<string, number>();

  /** @param files the beginning of their keys */
  mayRead(files: string, { user, role }: { readonly user: string; readonly role: string }, nowMs: number): boolean {
    const untilMs = this.#untilMs.get(nameOf(files, user, role));
    // A clock that was set back extends no permission.
    return untilMs !== undefined && nowMs < untilMs && untilMs <= nowMs + READER_MS;
  }

  note(files: string, { user, role }: { readonly user: string; readonly role: string }, nowMs: number): void {
    const name = nameOf(files, user, role);
    this.#untilMs.delete(name);
    this.#untilMs.set(name, nowMs + READER_MS);
    for (const oldest of this.#untilMs.keys()) {
      if (this.#untilMs.size <= READERS_MAX) break;
      this.#untilMs.delete(oldest);
    }
  }

  /** Drops the permissions of all readers of a room. Rare: looks through all entries. */
  forget(files: string): void {
    for (const name of this.#untilMs.keys()) if (name.startsWith(`["${files}`)) this.#untilMs.delete(name);
  }
}

const nameOf = (files: string, user: string, role: string): string => JSON.stringify([files, user, role]);
