// Caches file-read permissions per user and room for a minute (FILE-4). A page shows many images again and again; without the cache each
// of them would wake the room. Made by src/worker/deployment.ts; reading.ts asks it.
import { RecentMap } from "../../../clock/recent-map.ts";

/** After a ban or a deletion of the room, files are served no longer than this. */
export const READER_MS = 60_000;

/** Permissions kept in memory; the oldest go first. */
const READERS_MAX = 10_000;

export class FileReaders {
  readonly #untilMs = new RecentMap<string, number>(READERS_MAX);

  /** @param files the beginning of their keys */
  mayRead(files: string, { user, role }: { readonly user: string; readonly role: string }, nowMs: number): boolean {
    const untilMs = this.#untilMs.get(nameOf(files, user, role));
    // A clock that was set back extends no permission.
    return untilMs !== undefined && nowMs < untilMs && untilMs <= nowMs + READER_MS;
  }

  note(files: string, { user, role }: { readonly user: string; readonly role: string }, nowMs: number): void {
    this.#untilMs.set(nameOf(files, user, role), nowMs + READER_MS);
  }

  /** Drops the permissions of all readers of a room. Rare: looks through all entries. */
  forget(files: string): void {
    for (const name of this.#untilMs.keys()) if (name.startsWith(`["${files}`)) this.#untilMs.delete(name);
  }
}

const nameOf = (files: string, user: string, role: string): string => JSON.stringify([files, user, role]);
