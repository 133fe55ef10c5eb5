// What a room is billed for: the rows that it writes while something is done.
import { runInDurableObject } from "cloudflare:test";

import { stubOf } from "./rooms.ts";

export interface Counted {
  readonly rows: number;
  readonly alarms: number;
}

/** Rows of the lobby, which every room's report may be stored in: they are counted apart. */
const IN_LOBBY = /\broom_pages\b/;

/** Counts what a room writes, in SQL, by key and as alarms (a row each), while `work` is under way. */
export async function rowsWritten(room: string, work: () => Promise<unknown>): Promise<Counted> {
  const cursors: Array<SqlStorageCursor<Record<string, SqlStorageValue>>> = [];
  let [puts, alarms] = [0, 0];
  const undo = await runInDurableObject(stubOf(room), (_room, { storage }) => [
    watch(storage.sql, "exec", (cursor, [query]) => {
      if (!IN_LOBBY.test(query as string)) cursors.push(cursor as (typeof cursors)[number]);
    }),
    watch(storage.kv, "put", () => puts++),
    watch(storage.kv, "delete", () => puts++),
    watch(storage, "setAlarm", () => alarms++),
  ]);
  try {
    await work();
    const rows = cursors.reduce((sum, cursor) => sum + cursor.rowsWritten, puts + alarms);
    return { rows, alarms };
  } finally {
    for (const each of undo) each();
  }
}

/** Counts the rows that lobbies write, and the queries that anybody makes, while `work` is under way. */
export async function queriesMade(
  room: string,
  work: () => Promise<unknown>,
): Promise<{ all: number; lobbyRows: number }> {
  const made: Array<{ query: string; cursor: SqlStorageCursor<Record<string, SqlStorageValue>> }> = [];
  const undo = await runInDurableObject(stubOf(room), (_room, { storage }) =>
    watch(storage.sql, "exec", (cursor, [query]) => {
      made.push({ query: query as string, cursor: cursor as (typeof made)[number]["cursor"] });
    }),
  );
  try {
    await work();
    const inLobby = made.filter(({ query }) => IN_LOBBY.test(query));
    return { all: made.length, lobbyRows: inLobby.reduce((sum, { cursor }) => sum + cursor.rowsWritten, 0) };
  } finally {
    undo();
  }
}

/** On the prototype, which all instances of the platform's objects share. @returns what takes it back */
function watch<Target extends object>(
  target: Target,
  method: keyof Target & string,
  seen: (result: unknown, args: readonly unknown[]) => void,
): () => void {
  const prototype = Object.getPrototypeOf(target) as Record<string, (...args: unknown[]) => unknown>;
  const original = prototype[method]!;
  prototype[method] = function (this: Target, ...args: unknown[]): unknown {
    const result = original.apply(this, args);
    seen(result, args);
    return result;
  };
  return () => void (prototype[method] = original);
}
