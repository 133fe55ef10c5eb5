// Where batches end that no room could take: one Durable Object for the deployment, one row per batch (RLY-9).
import { DurableObject } from "cloudflare:workers";

import type { DeadLettersDoor } from "../src/access/relay-door.ts";
import type { DeadBatch, DeadLetter, RelayBatch } from "../src/protocol/relay-batch.ts";
import type { Env } from "./env.ts";

/** Batches that are kept; of more the oldest are forgotten. */
export const DEAD_LETTERS_MAX = 1000;

interface Row extends Record<string, SqlStorageValue> {
  id: number;
  at: number;
  reason: string;
  batch: string;
}

export class DeadLetters extends DurableObject<Env> implements DeadLettersDoor {
  async bury(dead: readonly DeadBatch[]): Promise<void> {
    const { sql } = this.ctx.storage;
    sql.exec(
      "CREATE TABLE IF NOT EXISTS dead_letters (id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, reason TEXT NOT NULL, batch TEXT NOT NULL)",
    );
    const insert = "INSERT INTO dead_letters (at, reason, batch) VALUES (?, ?, ?)";
    for (const { batch, reason } of dead) sql.exec(insert, Date.now(), reason, JSON.stringify(batch));
    const { rowsWritten } = sql.exec(
      "DELETE FROM dead_letters WHERE id <= (SELECT id FROM dead_letters ORDER BY id DESC LIMIT 1 OFFSET ?)",
      DEAD_LETTERS_MAX,
    );
    if (rowsWritten > 0) console.error(JSON.stringify({ event: "relay.forgotten", batches: rowsWritten }));
  }

  async list(after: number, limit: number): Promise<DeadLetter[]> {
    return this.#select("id > ? ORDER BY id LIMIT ?", after, limit).map(({ id, at, reason, batch }) => {
      const { from, to, posts, changes } = JSON.parse(batch) as RelayBatch;
      return { id, at, from, to, messages: posts.items.length, changes: changes.items.length, reason };
    });
  }

  async read(ids: readonly number[]): Promise<Array<{ id: number; batch: RelayBatch }>> {
    return ids.flatMap((id) =>
      this.#select("id = ?", id).map(({ batch }) => ({ id, batch: JSON.parse(batch) as RelayBatch })),
    );
  }

  async remove(ids: readonly number[]): Promise<void> {
    for (const id of ids) this.ctx.storage.sql.exec("DELETE FROM dead_letters WHERE id = ?", id);
  }

  /** Looking for dead letters where there never were any makes no table. */
  #select(condition: string, ...values: number[]): Row[] {
    const { sql } = this.ctx.storage;
    const isThere = sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'dead_letters'").toArray();
    if (isThere.length === 0) return [];
    return sql.exec<Row>(`SELECT id, at, reason, batch FROM dead_letters WHERE ${condition}`, ...values).toArray();
  }
}
