// Measures the rows that a room writes during an action. Called by tests of costs.
import { runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";

import { ARM_DELAY_MS, AWAKE_WAIT_MS_MAX } from "../../src/socketio/object/wake-clock.ts";
import { PATIENCE_MS } from "../host/patience.ts";
import { stubOf } from "./rooms.ts";

export interface Counted {
  readonly rows: number;
  readonly alarms: number;
}

/** Rows of the lobby, which every room's report may be stored in: they are counted apart. */
const IN_LOBBY = /\broom_pages\b/;

/**
 * Counts the rows that rooms write, by SQL, by key and as alarms (a row each), while `work` runs; they may sleep once meanwhile.
 * @param work gets the count so far, so that it can wait for the last write
 * @param through another room, where the first one is asleep and must not be woken before `work`
 */
export async function rowsWritten(
  rooms: string | readonly string[],
  work: (soFar: () => Counted) => Promise<unknown>,
  through?: string,
): Promise<Counted> {
  const all = typeof rooms === "string" ? [rooms] : rooms;
  const owners = new Set<unknown>();
  const know = async (): Promise<void> => {
    for (const room of all)
      await runInDurableObject(stubOf(room), (_room, { storage }) => {
        for (const owner of [storage, storage.sql, storage.kv]) owners.add(owner);
      });
  };
  if (through === undefined) await know();
  return counting(through ?? all[0]!, async (written) => {
    const soFar = (): Counted => sumOf(written.filter(({ owner }) => owners.has(owner)));
    await work(soFar);
    await know();
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

/**
 * A room sets an alarm after up to a second of quiet. That time does not pass until the test calls `vi.restoreAllMocks`: machines may be slow, and
 * the alarm is not what it counts.
 */
export function holdAlarms(): void {
  const set = globalThis.setTimeout;
  const isHeld = (ms = 0): boolean => ms >= ARM_DELAY_MS && ms <= AWAKE_WAIT_MS_MAX;
  const held = (run: () => void, ms?: number): unknown => set(run, isHeld(ms) ? PATIENCE_MS : ms);
  vi.spyOn(globalThis, "setTimeout").mockImplementation(held as typeof setTimeout);
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

type Seen = (result: unknown, args: readonly unknown[], owner: unknown) => void;

/** Those who watch each method of each prototype of the platform, of which each is patched once. */
const watchers = new Map<object, Map<string, Set<Seen>>>();

/** Several tests may watch at a time. @returns a function that ends it */
function watch<Target extends object>(target: Target, method: keyof Target & string, seen: Seen): () => void {
  const prototype = Object.getPrototypeOf(target) as Record<string, (...args: unknown[]) => unknown>;
  const methods = watchers.get(prototype) ?? new Map<string, Set<Seen>>();
  watchers.set(prototype, methods);
  const all = methods.get(method) ?? new Set();
  if (!methods.has(method)) {
    methods.set(method, all);
    const original = prototype[method]!;
    prototype[method] = function (this: Target, ...args: unknown[]): unknown {
      const result = original.apply(this, args);
      for (const each of all) each(result, args, this);
      return result;
    };
  }
  all.add(seen);
  return () => void all.delete(seen);
}
