// The DeadLetters object, one per deployment: keeps batches and parts of announcements that no room took, one row each (RLY-9, ANN-6).
// src/rpc/dead-letters.ts and http.ts call it by RPC.
import { DurableObject } from "cloudflare:workers";

import { writeLog } from "../../settings/log.ts";
import type { DeadLettersRpc } from "../../rpc/relay.ts";
import type { DeadBatch, DeadLetter } from "../../protocol/relay-batch.ts";
import { describeBatch } from "../../relay/readable-batch.ts";
import type { Env } from "../../objects/env.ts";
import { openStored, type StoredFormat } from "../../socketio/object/stored-format.ts";

/** Batches kept; the oldest of more are forgotten. */
export const DEAD_LETTERS_MAX = 1000;

interface Row extends Record<string, SqlStorageValue> {
  id: number;
  at: number;
  reason: string;
  batch: string;
}

const FORMAT: StoredFormat = { of: "the object of dead letters", migrations: [] };

export class DeadLetters extends DurableObject<Env> implements DeadLettersRpc {
  readonly #sql: SqlStorage;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = openStored(ctx.storage, FORMAT).sql;
    this.#sql.exec(
      "CREATE TABLE IF NOT EXISTS dead_letters (id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, reason TEXT NOT NULL, batch TEXT NOT NULL)",
    );
  }

  /** @internal */
  async add(dead: readonly DeadBatch[]): Promise<void> {
    const sql = this.#sql;
    const insert = "INSERT INTO dead_letters (at, reason, batch) VALUES (?, ?, ?)";
    for (const { batch, reason } of dead) sql.exec(insert, Date.now(), reason, JSON.stringify(batch));
    const { rowsWritten } = sql.exec(
      "DELETE FROM dead_letters WHERE id <= (SELECT id FROM dead_letters ORDER BY id DESC LIMIT 1 OFFSET ?)",
      DEAD_LETTERS_MAX,
    );
    if (rowsWritten > 0) writeLog(undefined, "error", "relay.forgotten", { batches: rowsWritten });
  }

  /** @internal */
  async list(after: number, limit: number): Promise<DeadLetter[]> {
    return this.#select("id > ? ORDER BY id LIMIT ?", after, limit).map(({ id, at, reason, batch }) => {
      return { id, at, ...describeBatch(JSON.parse(batch)), reason };
    });
  }

  /** @internal */
  async read(ids: readonly number[]): Promise<Array<{ id: number; batch: DeadBatch["batch"] }>> {
    return ids.flatMap((id) =>
      this.#select("id = ?", id).map(({ batch }) => ({ id, batch: JSON.parse(batch) as DeadBatch["batch"] })),
    );
  }

  /** @internal */
  async remove(ids: readonly number[]): Promise<void> {
    for (const id of ids) this.#sql.exec("DELETE FROM dead_letters WHERE id = ?", id);
  }

  /** @internal */
  async count(): Promise<number> {
    return this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM dead_letters").one().n;
  }

  #select(condition: string, ...values: number[]): Row[] {
    return this.#sql
      .exec<Row>(`SELECT id, at, reason, batch FROM dead_letters WHERE ${condition}`, ...values)
      .toArray();
  }
}
