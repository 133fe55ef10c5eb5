// A recovery log for applications that keep no events of their own: a row per broadcast, in two tables that
// take turns, because dropping a table is free and deleting its rows is not.
import { decodePayload, encodePayload } from "../src/protocol/polling-payload.ts";
import { encodeEvent, readMessage, type PartialPacket } from "../src/protocol/socket-io.ts";
import type { Broadcast, MissedEvent, RecoveryLog, RememberedSocket } from "../src/socketio/recovery.ts";
import { nameLog } from "./log-name.ts";

interface BroadcastRow extends Record<string, SqlStorageValue> {
  seq: number;
  at_ms: number;
  /** JSON `{channels?, except?}` */
  audience: string;
  /** The event's frames, as a long-polling payload. */
  body: string;
}

/** Broadcasts replayed at most; a client that missed more starts afresh. */
export const MISSED_BROADCASTS_MAX = 1000;

/** In front of the key under which a socket is remembered. */
const REMEMBERED = "remembered:";

const TABLES = ["broadcasts_0", "broadcasts_1"] as const;

export class SqlRecoveryLog implements RecoveryLog {
  readonly epoch: string;
  readonly key: string;
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  /** Sockets that are there, in this life of the object. */
  readonly #present = new Set<string>();
  readonly #windowMs: number;
  readonly #now: () => number;
  #lastSeq: number;
  /** The table that is written; the other one holds what came before it. */
  #current: 0 | 1;
  #currentSinceMs: number;

  constructor(
    storage: DurableObjectStorage,
    { windowMs, now, newName }: { windowMs: number; now: () => number; newName: () => string },
  ) {
    const { sql } = storage;
    this.#storage = storage;
    this.#sql = sql;
    this.#windowMs = windowMs;
    this.#now = now;
    ({ epoch: this.epoch, key: this.key } = nameLog(sql, newName));
    for (const table of TABLES) createTable(sql, table);
    const newest = TABLES.map((table) => this.#edge(table, "DESC")?.seq ?? 0);
    this.#lastSeq = Math.max(...newest);
    this.#current = (newest[1] ?? 0) > (newest[0] ?? 0) ? 1 : 0;
    this.#currentSinceMs = this.#edge(TABLES[this.#current], "ASC")?.at_ms ?? now();
  }

  #edge(table: string, order: "ASC" | "DESC"): BroadcastRow | undefined {
    const [row] = this.#sql.exec<BroadcastRow>(`SELECT * FROM ${table} ORDER BY seq ${order} LIMIT 1`);
    return row;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  append({ event, args, channels, except }: Broadcast): number {
    this.#takeTurns();
    const seq = this.#lastSeq + 1;
    this.#sql.exec(
      `INSERT INTO ${TABLES[this.#current]} (seq, at_ms, audience, body) VALUES (?, ?, ?, ?)`,
      seq,
      this.#now(),
      JSON.stringify({ channels, except }),
      encodePayload(encodeEvent("/", event, args)),
    );
    this.#lastSeq = seq;
    return seq;
  }

  /** After a window the other table holds nothing that anybody could still ask for. */
  #takeTurns(): void {
    const nowMs = this.#now();
    if (nowMs - this.#currentSinceMs <= this.#windowMs) return;
    this.#current = this.#current === 0 ? 1 : 0;
    this.#currentSinceMs = nowMs;
    this.#sql.exec(`DROP TABLE ${TABLES[this.#current]}`);
    createTable(this.#sql, TABLES[this.#current]);
    this.#forgetGone(nowMs);
  }

  since(seq: number, socket: { readonly id: string; readonly channels: readonly string[] }): MissedEvent[] | undefined {
    const oldest = TABLES.map((table) => this.#edge(table, "ASC")?.seq).filter((first) => first !== undefined);
    const firstSeq = oldest.length > 0 ? Math.min(...oldest) : this.#lastSeq + 1;
    if (seq + 1 < firstSeq || this.#lastSeq - seq > MISSED_BROADCASTS_MAX) return undefined;
    const own = new Set([socket.id, ...socket.channels]);
    return [TABLES[1 - this.#current]!, TABLES[this.#current]]
      .flatMap((table) => [...this.#sql.exec<BroadcastRow>(`SELECT * FROM ${table} WHERE seq > ? ORDER BY seq`, seq)])
      .filter(({ audience }) => isFor(own, JSON.parse(audience) as Pick<Broadcast, "channels" | "except">))
      .map(toMissedEvent);
  }

  /** Kept as a structured clone, which carries whatever `socket.data` may hold. */
  remember(id: string, socket: RememberedSocket): void {
    if (socket.goneAtMs === undefined) this.#present.add(id);
    else this.#present.delete(id);
    this.#storage.kv.put(`${REMEMBERED}${id}`, socket);
  }

  recall(id: string): RememberedSocket | undefined {
    return this.#storage.kv.get<RememberedSocket>(`${REMEMBERED}${id}`);
  }

  retain(id: string): void {
    this.#present.add(id);
  }

  /** Forgets those who have been gone for a window. Whoever went with an earlier life of the object is gone from now on. */
  #forgetGone(nowMs: number): void {
    for (const [key, socket] of this.#storage.kv.list<RememberedSocket>({ prefix: REMEMBERED })) {
      const { goneAtMs } = socket;
      if (goneAtMs !== undefined && nowMs - goneAtMs > this.#windowMs) this.#storage.kv.delete(key);
      else if (goneAtMs === undefined && !this.#present.has(key.slice(REMEMBERED.length))) {
        this.#storage.kv.put(key, { ...socket, goneAtMs: nowMs });
      }
    }
  }
}

function createTable(sql: SqlStorage, table: string): void {
  sql.exec(
    `CREATE TABLE IF NOT EXISTS ${table} (seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, audience TEXT NOT NULL, body TEXT NOT NULL)`,
  );
}

function isFor(own: ReadonlySet<string>, { channels, except }: Pick<Broadcast, "channels" | "except">): boolean {
  const isSelected = channels?.some((channel) => own.has(channel)) ?? true;
  return isSelected && !except?.some((channel) => own.has(channel));
}

function toMissedEvent({ seq, at_ms, body }: BroadcastRow): MissedEvent {
  let partial: PartialPacket | undefined;
  for (const frame of decodePayload(body) ?? []) {
    // The digit of the Engine.IO message is not part of the Socket.IO packet.
    const result = readMessage(typeof frame === "string" ? frame.slice(1) : frame, partial);
    if (result.kind === "packet" && result.packet.type === "event") {
      return { seq, atMs: at_ms, event: result.packet.event, args: result.packet.args };
    }
    partial = result.kind === "partial" ? result.partial : undefined;
  }
  throw new Error(`broadcast ${seq} cannot be read back`);
}
