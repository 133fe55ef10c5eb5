// Measures the rows that a room writes during an action. Called by tests of costs.
import { runInDurableObject } from "cloudflare:test";

import { stubOf } from "./rooms.ts";

export interface Counted {
  readonly rows: number;
  readonly alarms: number;
}

/** Rows of the lobby, which every room's report may be stored in: they are counted apart. */
const IN_LOBBY = /\broom_pages\b/;

/**
 * Counts the rows that a room writes, by SQL, by key and as alarms (a row each), while `work` runs; the room may sleep once meanwhile.
 * @param work gets the count so far, so that it can wait for the last write
 * @param through another room, where this one is asleep and must not be woken before `work`
 */
export async function rowsWritten(
  room: string,
  work: (soFar: () => Counted) => Promise<unknown>,
  through = room,
): Promise<Counted> {
  const owners = new Set<unknown>();
  const know = (name: string): Promise<void> =>
    runInDurableObject(stubOf(name), (_room, { storage }) => {
      for (const owner of [storage, storage.sql, storage.kv]) owners.add(owner);
    });
  if (through === room) await know(room);
  return counting(through, async (written) => {
    const soFar = (): Counted => sumOf(written.filter(({ owner }) => owners.has(owner)));
    await work(soFar);
    await know(room);
    return soFar();
  });
}

/** The same of all rooms that there are, those that are made meanwhile included. @param through any of them */
export function rowsWrittenByAll(through: string, work: (soFar: () => Counted) => Promise<unknown>): Promise<Counted> {
  return counting(through, async (written) => {
    const soFar = (): Counted => sumOf(written);
    await work(soFar);
    return soFar();
  });
}

interface Write {
  readonly owner: unknown;
  readonly rows: () => number;
  readonly isAlarm?: true;
}

function sumOf(written: readonly Write[]): Counted {
  const rows = written.reduce((sum, write) => sum + write.rows(), 0);
  return { rows, alarms: written.filter(({ isAlarm }) => isAlarm).length };
}

async function counting(through: string, work: (written: readonly Write[]) => Promise<Counted>): Promise<Counted> {
  const written: Write[] = [];
  const one = (): number => 1;
  const undo = await runInDurableObject(stubOf(through), (_room, { storage }) => [
    watch(storage.sql, "exec", (cursor, [query], owner) => {
      if (IN_LOBBY.test(query as string)) return;
      written.push({ owner, rows: () => (cursor as SqlStorageCursor<Record<string, SqlStorageValue>>).rowsWritten });
    }),
    watch(storage.kv, "put", (_result, _args, owner) => written.push({ owner, rows: one })),
    watch(storage.kv, "delete", (_result, _args, owner) => written.push({ owner, rows: one })),
    watch(storage, "setAlarm", (_result, _args, owner) => written.push({ owner, rows: one, isAlarm: true })),
  ]);
  try {
    return await work(written);
  } finally {
    for (const each of undo) each();
  }
}

/**
 * Counts the rows that lobbies write, and the queries of all others, while `work` is under way.
 * A lobby stores reports some time after it received them, which may fall into the counted time.
 */
export async function queriesMade(
  room: string,
  work: () => Promise<unknown>,
): Promise<{ besidesLobby: number; lobbyRows: number }> {
  const made: Array<{ query: string; cursor: SqlStorageCursor<Record<string, SqlStorageValue>> }> = [];
  const undo = await runInDurableObject(stubOf(room), (_room, { storage }) =>
    watch(storage.sql, "exec", (cursor, [query]) => {
      made.push({ query: query as string, cursor: cursor as (typeof made)[number]["cursor"] });
    }),
  );
  try {
    await work();
    const inLobby = made.filter(({ query }) => IN_LOBBY.test(query));
    return {
      besidesLobby: made.length - inLobby.length,
      lobbyRows: inLobby.reduce((sum, { cursor }) => sum + cursor.rowsWritten, 0),
    };
  } finally {
    undo();
  }
}

/** Patches the prototype that all instances of the platform's objects share. @returns a function that restores it */
function watch<Target extends object>(
  target: Target,
  method: keyof Target & string,
  seen: (result: unknown, args: readonly unknown[], owner: unknown) => void,
): () => void {
  const prototype = Object.getPrototypeOf(target) as Record<string, (...args: unknown[]) => unknown>;
  const original = prototype[method]!;
  prototype[method] = function (this: Target, ...args: unknown[]): unknown {
    const result = original.apply(this, args);
    seen(result, args, this);
    return result;
  };
  return () => void (prototype[method] = original);
}
