// Who was let read the files of which room a moment ago. A page shows many images at once and again and again; without
// this each of them would wake the room to ask whether its reader is banned (FILE-4).

/** What the room would refuse by now, be it for a ban or because it was deleted, is given no longer than this. */
export const READER_MS = 60_000;

/** Leaves kept in memory; the oldest go first. */
const READERS_MAX = 10_000;

export class FileReaders {
  readonly #untilMs = new Map<string, number>();

  /** @param files the beginning of their keys */
  mayRead(files: string, { user, role }: { readonly user: string; readonly role: string }, nowMs: number): boolean {
    const untilMs = this.#untilMs.get(nameOf(files, user, role));
    // A clock that was set back gives nobody more time.
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

  /** The room has to be asked about everybody again. Rare: looks through all of them. */
  forget(files: string): void {
    for (const name of this.#untilMs.keys()) if (name.startsWith(`["${files}`)) this.#untilMs.delete(name);
  }
}

const nameOf = (files: string, user: string, role: string): string => JSON.stringify([files, user, role]);
