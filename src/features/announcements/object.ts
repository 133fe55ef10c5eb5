// The Announcements object, one per deployment: stores the progress of each announcement for a day, one row each. If RELAY is `direct`, it
// also stores the items that wait, and delivers them by its alarm. http.ts, consumer-ports.ts and src/rpc/transport.ts call it by RPC (AnnouncementsRpc).
// An item is one of three: a part (a share of the destinations), a walk (the rest of a list of rooms, which becomes parts and a further
// walk) or a look (users whom no lobby knew, to be looked for once more). A note says what came of a part, `over` which parts are not
// tried again, and the total how many destinations and parts there are, once the walk has come to its end.
import { DurableObject } from "cloudflare:workers";

import { Throttle } from "../../clock/rates.ts";
import type {
  AnnounceItem,
  AnnounceNote,
  AnnouncePart,
  AnnounceProgress,
  AnnounceTotal,
} from "../../protocol/announcement.ts";
import { beginRecord, progressOf, withNote, withTotal, type AnnounceRecord } from "./progress.ts";
import { announceEach } from "./announcing.ts";
import { announcePorts, reportProblem } from "./consumer-ports.ts";
import { isReadableItem, UNREADABLE } from "../../relay/readable-batch.ts";
import { bindingsOf, type BindingNames } from "../../rpc/bindings.ts";
import type { AnnouncementsRpc } from "../../rpc/announcements.ts";
import { storeDeadLetters } from "../../rpc/dead-letters.ts";
import type { Env } from "../../objects/env.ts";
import { goodSettingsOf } from "../../objects/good-settings.ts";
import { isNewer, openStored, putOffAlarm, type StoredFormat } from "../../socketio/object/stored-format.ts";

/** The API answers for this long how far an announcement has come, and knows an Idempotency-Key. */
export const ANNOUNCEMENT_KEPT_MS = 24 * 3_600_000;

/** Older rows are looked for at most this often. */
const SWEEP_MS = 3_600_000;

/** Items that one alarm delivers. */
const ITEMS_AT_ONCE = 20;

/** An item is delivered again after this where the object could not store its remaining rooms or note its progress. */
const RETRY_MS = 5000;

const FORMAT: StoredFormat = { of: "the object of announcements", migrations: [] };

interface PendingRow extends Record<string, SqlStorageValue> {
  number: number;
  due: number;
  item: string;
}

export class Announcements extends DurableObject<Env> implements AnnouncementsRpc {
  /** Yours to override, where the Worker has its bindings under other names; as `bindings` of createParley. */
  static readonly bindings: BindingNames = {};

  readonly #bindings: Env;
  #opened: SqlStorage | undefined;
  readonly #sweeping = new Throttle(SWEEP_MS);

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#bindings = bindingsOf(env, new.target.bindings);
  }

  /** Opened with the first use, because an alarm has to survive data that this code cannot read. @throws NewerData */
  get #sql(): SqlStorage {
    return (this.#opened ??= open(this.ctx.storage));
  }

  // ---- progress --------------------------------------------------------------------------------------------

  /** @internal */
  async find(id: string, by?: string): Promise<AnnounceProgress | undefined> {
    const record = this.#read(id);
    // One that was noted and never begun has to be sent again by its caller.
    return record && record.by !== "" && (by === undefined || record.by === by) ? progressOf(record) : undefined;
  }

  /** @internal */
  async begin(id: string, { by, accepted, parts }: Parameters<AnnouncementsRpc["begin"]>[1]): Promise<void> {
    const nowMs = Date.now();
    if (this.#sweeping.passIfOpen(nowMs))
      this.#sql.exec("DELETE FROM announcements WHERE at < ?", nowMs - ANNOUNCEMENT_KEPT_MS);
    const known = this.#read(id);
    // Parts may have been delivered, and noted, before this call.
    const { reached, failed, over, ...before } = known ?? beginRecord({ id, by, at: 0 }, 0, null);
    // The caller does not know the number of parts of a walk; one that has ended meanwhile has noted it.
    const total = parts === null && before.parts !== null ? before : { accepted, parts };
    const record = beginRecord({ id, by, at: nowMs }, total.accepted, total.parts);
    this.#write({ ...record, reached, failed, over });
  }

  /** @internal */
  async note(notes: readonly AnnounceNote[], totals: readonly AnnounceTotal[]): Promise<void> {
    const ids = new Set([...notes, ...totals].map(({ id }) => id));
    for (const id of ids) {
      let record = this.#read(id) ?? beginRecord({ id, by: "", at: Date.now() }, 0, null);
      for (const note of notes) if (note.id === id) record = withNote(record, note);
      for (const total of totals) if (total.id === id) record = withTotal(record, total);
      this.#write(record);
    }
  }

  #read(id: string): AnnounceRecord | undefined {
    const query = "SELECT record FROM announcements WHERE id = ?";
    const [row] = this.#sql.exec<{ record: string }>(query, id).toArray();
    return row && (JSON.parse(row.record) as AnnounceRecord);
  }

  #write(record: AnnounceRecord): void {
    const query =
      "INSERT INTO announcements (id, at, record) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record";
    this.#sql.exec(query, record.id, record.at, JSON.stringify(record));
  }

  // ---- delivery --------------------------------------------------------------------------------------------

  /** @internal */
  async deliver(items: readonly AnnounceItem[], delaySeconds: number): Promise<void> {
    this.#keep(items, delaySeconds);
    await this.#schedule();
  }

  override async alarm(): Promise<void> {
    if (isNewer(this.ctx.storage, FORMAT)) return putOffAlarm(this.ctx.storage);
    const sql = this.#sql;
    const rows = sql
      .exec<PendingRow>("SELECT * FROM pending WHERE due <= ? ORDER BY number LIMIT ?", Date.now(), ITEMS_AT_ONCE)
      .toArray();
    const items = rows.map(({ item }) => JSON.parse(item) as AnnounceItem);
    const failed = await this.#deliverNow(items);
    rows.forEach(({ number }, i) => {
      if (failed.has(items[i]!)) sql.exec("UPDATE pending SET due = ? WHERE number = ?", Date.now() + RETRY_MS, number);
      else sql.exec("DELETE FROM pending WHERE number = ?", number);
    });
    await this.#schedule();
  }

  /** @returns the items that have to be delivered again */
  async #deliverNow(items: readonly AnnounceItem[]): Promise<ReadonlySet<AnnounceItem>> {
    try {
      const unreadable = items.filter((item) => !isReadableItem(item)) as AnnouncePart[];
      const dead = unreadable.map((batch) => ({ batch, reason: UNREADABLE }));
      const settings = goodSettingsOf(this.env);
      await storeDeadLetters(this.#bindings, dead, settings);
      const send = async (...given: Parameters<typeof this.deliver>): Promise<void> => this.#keep(...given);
      const ports = announcePorts(this.#bindings, settings, send);
      return await announceEach(items.filter(isReadableItem), { ...ports, note: (...given) => this.note(...given) });
    } catch (error) {
      reportProblem(error);
      return new Set(items);
    }
  }

  #keep(items: readonly AnnounceItem[], delaySeconds: number): void {
    const insert = "INSERT INTO pending (due, item) VALUES (?, ?)";
    const dueMs = Date.now() + delaySeconds * 1000;
    for (const item of items) this.#sql.exec(insert, dueMs, JSON.stringify(item));
  }

  async #schedule(): Promise<void> {
    const { due } = this.#sql.exec<{ due: number | null }>("SELECT MIN(due) AS due FROM pending").one();
    if (due !== null) await this.ctx.storage.setAlarm(Math.max(due, Date.now()));
  }
}

function open(storage: DurableObjectStorage): SqlStorage {
  const { sql } = openStored(storage, FORMAT);
  sql.exec(
    "CREATE TABLE IF NOT EXISTS announcements (id TEXT PRIMARY KEY, at INTEGER NOT NULL, record TEXT NOT NULL) WITHOUT ROWID",
  );
  sql.exec(
    "CREATE TABLE IF NOT EXISTS pending (number INTEGER PRIMARY KEY AUTOINCREMENT, due INTEGER NOT NULL, item TEXT NOT NULL)",
  );
  return sql;
}
