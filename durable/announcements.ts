// What was announced in the whole deployment, and how far it has come: one Durable Object, one row per announcement, kept for
// a day. Without a queue it also brings announcements to their rooms itself, by its alarm.
import { Throttle } from "../src/clock/throttle.ts";
import { DurableObject } from "cloudflare:workers";

import type { AnnouncementsRpc } from "../src/rpc/relay.ts";
import { turnPorts } from "../src/rpc/turn-ports.ts";
import { DEAD_LETTERS_NAME } from "../src/rpc/relay.ts";
import { logProblem, writeLog } from "../src/settings/log.ts";
import { roomsByPrefix, whereabouts } from "../src/rpc/lobby.ts";
import { readSettings } from "../src/settings/settings.ts";
import type { DeadBatch } from "../src/protocol/relay-batch.ts";
import type {
  AnnounceItem,
  AnnouncePart,
  AnnounceNote,
  AnnounceProgress,
  AnnounceTotal,
} from "../src/protocol/announcement.ts";
import { beginRecord, progressOf, withNote, withTotal, type AnnounceRecord } from "../src/relay/announce-progress.ts";
import { announceEach, type AnnouncePorts } from "../src/relay/announcing.ts";
import { describeBatch, isReadableItem, UNREADABLE } from "../src/relay/readable-batch.ts";
import type { Env } from "./env.ts";

/** Progress can be asked for so long, and an Idempotency-Key is known so long. */
export const ANNOUNCEMENT_KEPT_MS = 24 * 3_600_000;

/** What is older is looked for at most this often. */
const SWEEP_MS = 3_600_000;

/** Items that one alarm takes up. */
const ITEMS_AT_ONCE = 20;

/** What could not be brought on its way at all is tried again after this. */
const RETRY_MS = 5000;

interface PendingRow extends Record<string, SqlStorageValue> {
  number: number;
  due: number;
  item: string;
}

export class Announcements extends DurableObject<Env> implements AnnouncementsRpc {
  readonly #sweeping = new Throttle(SWEEP_MS);

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS announcements (id TEXT PRIMARY KEY, at INTEGER NOT NULL, record TEXT NOT NULL) WITHOUT ROWID",
    );
    ctx.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS pending (number INTEGER PRIMARY KEY AUTOINCREMENT, due INTEGER NOT NULL, item TEXT NOT NULL)",
    );
  }

  async find(id: string, by?: string): Promise<AnnounceProgress | undefined> {
    const record = this.#read(id);
    // Noted, and never begun: who announced it has to send it again.
    return record && record.by !== "" && (by === undefined || record.by === by) ? progressOf(record) : undefined;
  }

  async begin(id: string, { by, accepted, parts }: Parameters<AnnouncementsRpc["begin"]>[1]): Promise<void> {
    this.#sweep();
    const known = this.#read(id);
    // Its first parts may have arrived before this.
    const { reached, failed, over, ...before } = known ?? beginRecord({ id, by, at: 0 }, 0, null);
    // A short walk may even have come to its end.
    const total = parts === null && before.parts !== null ? before : { accepted, parts };
    const record = beginRecord({ id, by, at: Date.now() }, total.accepted, total.parts);
    this.#write({ ...record, reached, failed, over });
  }

  async note(notes: readonly AnnounceNote[], totals: readonly AnnounceTotal[]): Promise<void> {
    const ids = new Set([...notes, ...totals].map(({ id }) => id));
    for (const id of ids) {
      let record = this.#read(id) ?? beginRecord({ id, by: "", at: Date.now() }, 0, null);
      for (const note of notes) if (note.id === id) record = withNote(record, note);
      for (const total of totals) if (total.id === id) record = withTotal(record, total);
      this.#write(record);
    }
  }

  async deliver(items: readonly AnnounceItem[], delaySeconds: number): Promise<void> {
    this.#put(items, Date.now() + delaySeconds * 1000);
    await this.#scheduleNext(0);
  }

  override async alarm(): Promise<void> {
    const { sql } = this.ctx.storage;
    const rows = sql
      .exec<PendingRow>("SELECT * FROM pending WHERE due <= ? ORDER BY number LIMIT ?", Date.now(), ITEMS_AT_ONCE)
      .toArray();
    const left = new Set(await this.#bring(rows));
    for (const row of rows) {
      if (left.has(row)) sql.exec("UPDATE pending SET due = ? WHERE number = ?", Date.now() + RETRY_MS, row.number);
      else sql.exec("DELETE FROM pending WHERE number = ?", row.number);
    }
    await this.#scheduleNext(0);
  }

  /** @returns what has to come again */
  async #bring(rows: readonly PendingRow[]): Promise<readonly PendingRow[]> {
    const report = (error: unknown): void =>
      logProblem("announce.problem", "an announcement could not be brought on its way", error);
    try {
      const items = new Map(rows.map((row) => [row, JSON.parse(row.item) as unknown]));
      const readable = rows.filter((row) => isReadableItem(items.get(row)));
      const unreadable = rows.filter((row) => !readable.includes(row));
      await this.#bury(unreadable.map((row) => ({ batch: items.get(row) as AnnouncePart, reason: UNREADABLE })));
      return await announceEach(readable, (row) => items.get(row) as AnnounceItem, { ...this.#ports, report });
    } catch (error) {
      report(error);
      return rows;
    }
  }

  async #scheduleNext(waitMs: number): Promise<void> {
    const { sql } = this.ctx.storage;
    const [next] = sql.exec<{ due: number | null }>("SELECT MIN(due) AS due FROM pending").toArray();
    if (next?.due == null) return;
    await this.ctx.storage.setAlarm(Math.max(next.due, Date.now() + waitMs));
  }

  get #ports(): AnnouncePorts {
    const { CHAT_ROOM, LOBBY } = this.env;
    const settings = readSettings(this.env);
    if (!settings.ok) throw new Error(`bad settings: ${settings.problems.join("; ")}`);
    return {
      ...turnPorts,
      announce: (room, announcements) => CHAT_ROOM.getByName(room).takeAnnounced(announcements),
      list: roomsByPrefix(LOBBY, settings.settings.lobbies),
      find: (users) => whereabouts(LOBBY, settings.settings.lobbies, users),
      send: async (items, delaySeconds) => this.#put(items, Date.now() + delaySeconds * 1000),
      note: (notes, totals) => this.note(notes, totals),
      bury: (dead) => this.#bury(dead),
    };
  }

  async #bury(dead: readonly DeadBatch[]): Promise<void> {
    if (dead.length === 0) return;
    const { DEAD_LETTERS } = this.env;
    if (!DEAD_LETTERS) throw new Error("RELAY: needs the binding DEAD_LETTERS, which wrangler.toml does not give");
    await DEAD_LETTERS.getByName(DEAD_LETTERS_NAME).bury(dead);
    for (const { batch, reason } of dead) writeLog("warn", "relay.dead", { reason, ...describeBatch(batch) });
  }

  #put(items: readonly AnnounceItem[], due: number): void {
    const insert = "INSERT INTO pending (due, item) VALUES (?, ?)";
    for (const item of items) this.ctx.storage.sql.exec(insert, due, JSON.stringify(item));
  }

  #read(id: string): AnnounceRecord | undefined {
    const query = "SELECT record FROM announcements WHERE id = ?";
    const [row] = this.ctx.storage.sql.exec<{ record: string }>(query, id).toArray();
    return row && (JSON.parse(row.record) as AnnounceRecord);
  }

  #write(record: AnnounceRecord): void {
    const query =
      "INSERT INTO announcements (id, at, record) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record";
    this.ctx.storage.sql.exec(query, record.id, record.at, JSON.stringify(record));
  }

  #sweep(): void {
    const nowMs = Date.now();
    if (!this.#sweeping.take(nowMs)) return;
    this.ctx.storage.sql.exec("DELETE FROM announcements WHERE at < ?", nowMs - ANNOUNCEMENT_KEPT_MS);
  }
}
