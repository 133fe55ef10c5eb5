// Logs to test in real SQLite: on storage of their own, filled at random, and compared with an array.
import { runInDurableObject } from "cloudflare:test";

import { SqlMessageLog } from "../../src/objects/sql/sql-message-log.ts";
import { messageId } from "../../src/protocol/message.ts";
import type { Page, PageQuery } from "../../src/chat/log/message-log.ts";
import type { Retention } from "../../src/chat/log/segments.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { freshRoom, stubOf, wipeStorage } from "./rooms.ts";

export const EPOCH = "the-epoch";
export const START_MS = 1_700_000_000_000;
/** Segments of ten messages. Nothing is ever trimmed unless a test asks for it. */
export const RETENTION: Retention = { messages: 100, ageMs: 1e12 };

/** Random numbers that are the same in every run. */
export class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  /** From 0 to `sides - 1`. */
  roll(sides: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * sides);
  }
}

export function makeMessage(room: string, seq: number, dice: Dice, incarnation: string): Message {
  const sender = `user-${dice.roll(5)}`;
  return {
    id: messageId(EPOCH, seq, incarnation),
    seq,
    room,
    sender,
    name: dice.roll(2) ? sender : 'Zoë \u{1f98a} "quoted" \u2028',
    content: `message ${seq} ${"x".repeat(dice.roll(200))}`,
    timestamp: START_MS + seq * 10,
    ...(dice.roll(2) && { clientMsgId: `client-${seq}` }),
    ...(seq > 1 && dice.roll(4) === 0 && { replyTo: messageId(EPOCH, 1 + dice.roll(seq - 1)) }),
  };
}

/** The definition of a page. */
export function pageOf(all: readonly Message[], { before, after, limit }: PageQuery): Page {
  if (after !== undefined) {
    const found = all.filter(({ seq }) => seq > after);
    return { messages: found.slice(0, limit), hasMore: found.length > limit };
  }
  const found = all.filter(({ seq }) => before === undefined || seq < before);
  return { messages: found.slice(Math.max(0, found.length - limit)), hasMore: found.length > limit };
}

/** Runs in a room's object, on storage as it is before its first use. */
export function withStorage<Result>(run: (storage: DurableObjectStorage, room: string) => Result): Promise<Result> {
  const room = freshRoom();
  return runInDurableObject(stubOf(room), (_instance, { storage }) => {
    wipeStorage(storage);
    return run(storage, room);
  });
}

export function openLog(storage: DurableObjectStorage, room: string, retention = RETENTION): SqlMessageLog {
  return new SqlMessageLog(storage, { room, retention, nowMs: Date.now(), newName: () => EPOCH });
}

/** Appends batches of 1 to 64 messages. @returns all that was appended */
export function fill(log: SqlMessageLog, room: string, dice: Dice, batches: number): Message[] {
  return Array.from({ length: batches }, () => appendBatch(log, room, dice)).flat();
}

export function appendBatch(log: SqlMessageLog, room: string, dice: Dice): Message[] {
  const count = 1 + dice.roll(dice.roll(8) ? 6 : 64);
  const batch = Array.from({ length: count }, (_, i) => makeMessage(room, log.lastSeq + 1 + i, dice, log.incarnation));
  log.append(batch);
  return batch;
}

/** The same storage, with a count of the rows that are read and written. */
export class Counted {
  readonly storage: DurableObjectStorage;
  #cursors: Array<{ readonly rowsRead: number; readonly rowsWritten: number }> = [];

  constructor(storage: DurableObjectStorage) {
    const exec = (query: string, ...bindings: unknown[]): unknown => {
      const cursor = storage.sql.exec(query, ...bindings);
      this.#cursors.push(cursor);
      return cursor;
    };
    const transactionSync = <Result>(run: () => Result): Result => storage.transactionSync(run);
    const sql = {
      exec,
      get databaseSize(): number {
        return storage.sql.databaseSize;
      },
    };
    this.storage = { sql, transactionSync } as unknown as DurableObjectStorage;
  }

  /** Rows that `run` read and wrote. */
  rowsOf(run: () => unknown): { read: number; written: number } {
    this.#cursors = [];
    run();
    const sum = (of: "rowsRead" | "rowsWritten"): number => this.#cursors.reduce((all, cursor) => all + cursor[of], 0);
    return { read: sum("rowsRead"), written: sum("rowsWritten") };
  }
}
