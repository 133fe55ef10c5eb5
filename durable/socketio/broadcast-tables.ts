// Stores a row per broadcast in two tables, one for the current window and one for the window before: to drop a table is free, to delete
// its rows is not. Called by sql-recovery-log.ts.
import { Lives, UNNAMED_LIFE } from "../../src/socketio/recovery/lives.ts";
import { decodePayload, encodePayload } from "../../src/socketio/wire/polling-payload.ts";
import { encodeEvent, readMessage, type PartialPacket } from "../../src/socketio/wire/socket-io.ts";
import {
  MISSED_BYTES_MAX,
  type Broadcast,
  type MissedEvent,
  type WasIn,
} from "../../src/socketio/recovery/recovery.ts";

interface BroadcastRow extends Record<string, SqlStorageValue> {
  seq: number;
  at_ms: number;
  /** JSON `{channels?, except?, life?}`: the recipients, and the life of the log */
  audience: string;
  /** The event's frames, as a long-polling payload. */
  body: string;
}

/** The name of a channel in JSON: a string is itself, any other primitive the name of its type and its text. */
type StoredName = string | readonly [type: string, text: string];

interface Audience {
  readonly channels?: readonly StoredName[];
  readonly except?: readonly StoredName[];
  readonly life?: string;
}

/** Broadcasts replayed at most; a client that missed more gets a fresh connection. */
export const MISSED_BROADCASTS_MAX = 1000;

export class BroadcastTables {
  readonly #sql: SqlStorage;
  readonly #names: readonly [string, string];
  readonly #windowMs: number;
  readonly #lives: Lives;
  #lastSeq: number;
  /** The table that is written; the other one holds the rows before it. */
  #current: 0 | 1;
  #currentSinceMs: number;
  /** Both, or none: the first broadcast makes them, because clients may join any number of namespaces in which nothing is said. */
  #areMade: boolean;

  /**
   * @param names of both tables
   * @param newLife names a life of the log, given the name of the one before it
   */
  constructor(
    sql: SqlStorage,
    names: readonly [string, string],
    { windowMs, nowMs, newLife }: Record<"windowMs" | "nowMs", number> & { newLife: (before: string) => string },
  ) {
    this.#lives = new Lives({ begin: newLife, lastSeq: () => this.#lastSeq, stored: (seq) => this.#storedLife(seq) });
    this.#sql = sql;
    this.#names = names;
    this.#windowMs = windowMs;
    this.#areMade = [...sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", names[0])].length > 0;
    const newest = names.map((name) => this.#edge(name, "DESC")?.seq ?? 0);
    this.#lastSeq = Math.max(...newest);
    this.#current = (newest[1] ?? 0) > (newest[0] ?? 0) ? 1 : 0;
    this.#currentSinceMs = this.#edge(names[this.#current], "ASC")?.at_ms ?? nowMs;
  }

  #edge(name: string, order: "ASC" | "DESC"): BroadcastRow | undefined {
    if (!this.#areMade) return undefined;
    const [row] = this.#sql.exec<BroadcastRow>(`SELECT * FROM ${name} ORDER BY seq ${order} LIMIT 1`);
    return row;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  lifeAt(seq: number): string | undefined {
    return this.#lives.at(seq);
  }

  #storedLife(seq: number): string | undefined {
    if (!this.#areMade) return undefined;
    const query = (name: string): string =>
      `SELECT seq, audience FROM ${name} WHERE seq <= ? ORDER BY seq DESC LIMIT 1`;
    const rows = this.#names.flatMap((name) => this.#sql.exec<BroadcastRow>(query(name), seq).toArray());
    const [nearest] = rows.sort((a, b) => b.seq - a.seq);
    return nearest && readBack(nearest, lifeOf);
  }

  append({ event, args, channels, except }: Broadcast, nowMs: number): number {
    if (!this.#areMade) this.#make(nowMs);
    else if (nowMs - this.#currentSinceMs > this.#windowMs) this.#swapTables(nowMs);
    const seq = this.#lastSeq + 1;
    this.#sql.exec(
      `INSERT INTO ${this.#names[this.#current]} (seq, at_ms, audience, body) VALUES (?, ?, ?, ?)`,
      seq,
      nowMs,
      JSON.stringify({ channels: channels?.map(storedName), except: except?.map(storedName), life: this.#lives.own }),
      encodePayload(encodeEvent("/", event, args)),
    );
    this.#lives.took(seq);
    this.#lastSeq = seq;
    return seq;
  }

  #make(nowMs: number): void {
    for (const name of this.#names) createTable(this.#sql, name);
    this.#areMade = true;
    this.#currentSinceMs = nowMs;
  }

  /** Called after a window: no client can recover from the rows of the other table any more. */
  #swapTables(nowMs: number): void {
    this.#current = this.#current === 0 ? 1 : 0;
    this.#currentSinceMs = nowMs;
    this.#sql.exec(`DROP TABLE ${this.#names[this.#current]}`);
    createTable(this.#sql, this.#names[this.#current]);
  }

  /**
   * @returns all broadcasts after `seq` for one socket; `undefined` if they may be incomplete, or are too many to be replayed
   * @throws Error if a row is damaged
   */
  since(seq: number, wasIn: WasIn): MissedEvent[] | undefined {
    const oldest = this.#names.map((name) => this.#edge(name, "ASC")?.seq).filter((first) => first !== undefined);
    const firstSeq = oldest.length > 0 ? Math.min(...oldest) : this.#lastSeq + 1;
    if (seq + 1 < firstSeq || this.#lastSeq - seq > MISSED_BROADCASTS_MAX) return undefined;
    const missed: MissedEvent[] = [];
    if (!this.#areMade) return missed;
    let chars = 0;
    for (const name of [this.#names[1 - this.#current]!, this.#names[this.#current]]) {
      for (const row of this.#sql.exec<BroadcastRow>(`SELECT * FROM ${name} WHERE seq > ? ORDER BY seq`, seq)) {
        if (!readBack(row, (kept) => isFor(kept, wasIn))) continue;
        chars += row.body.length;
        if (chars > MISSED_BYTES_MAX) return undefined;
        missed.push(readBack(row, toMissedEvent));
      }
    }
    return missed;
  }
}

function createTable(sql: SqlStorage, name: string): void {
  sql.exec(
    `CREATE TABLE IF NOT EXISTS ${name} (seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, audience TEXT NOT NULL, body TEXT NOT NULL)`,
  );
}

/** @throws Error that names a damaged row */
function readBack<Read>(row: BroadcastRow, read: (row: BroadcastRow) => Read): Read {
  try {
    return read(row);
  } catch (cause) {
    throw new Error(`broadcast ${row.seq} cannot be read back`, { cause });
  }
}

function isFor({ seq, audience }: BroadcastRow, wasIn: WasIn): boolean {
  const { channels, except } = JSON.parse(audience) as Audience;
  const isSelected = channels?.some((channel) => wasIn(nameOf(channel), seq)) ?? true;
  return isSelected && !except?.some((channel) => wasIn(nameOf(channel), seq));
}

const storedName = (name: unknown): StoredName => (typeof name === "string" ? name : [typeof name, String(name)]);

/** By type a name is a string; code without types uses others. */
function nameOf(stored: StoredName): string {
  if (typeof stored === "string") return stored;
  const [type, text] = stored;
  const names: Readonly<Record<string, () => unknown>> = {
    number: () => Number(text),
    bigint: () => BigInt(text),
    boolean: () => text === "true",
    undefined: () => undefined,
    object: () => null,
  };
  return names[type]!() as string;
}

const lifeOf = ({ audience }: BroadcastRow): string => (JSON.parse(audience) as Audience).life ?? UNNAMED_LIFE;

function toMissedEvent(row: BroadcastRow): MissedEvent {
  const { seq, at_ms, body } = row;
  let partial: PartialPacket | undefined;
  for (const frame of decodePayload(body) ?? []) {
    // The digit of the Engine.IO message is not part of the Socket.IO packet.
    const result = readMessage(typeof frame === "string" ? frame.slice(1) : frame, partial);
    if (result.kind === "packet" && result.packet.type === "event") {
      return { seq, life: lifeOf(row), atMs: at_ms, event: result.packet.event, args: result.packet.args };
    }
    partial = result.kind === "partial" ? result.partial : undefined;
  }
  throw new Error("no event");
}
