// A recovery log for applications that keep no events of their own: every broadcast, and what else comes back
// with a socket. One object may hold several, each under a name.
import type { Broadcast, MissedEvent, RecoveryLog, RememberedSocket } from "../src/socketio/recovery.ts";
import { BroadcastTables } from "./broadcast-tables.ts";
import { nameLog } from "./log-name.ts";
import { checkLogName, closeNamedLog, openNamedLog, rememberedPrefixOf, tablesOf } from "./named-logs.ts";

export interface SqlRecoveryLogOptions {
  /** The namespace's recovery window: what is older need not be kept. */
  readonly windowMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Makes a name or a key: what nobody can guess. */
  readonly newName: () => string;
  /**
   * Tells this log from the others of its object, best by its namespace's own name: 1 to `LOG_NAME_CHARS_MAX` characters.
   * One log of an object may do without. A named one goes when nobody was in its namespace for a window.
   */
  readonly name?: string;
}

/** A log in use: of a namespace that never let anybody in nothing is stored. */
interface OpenLog {
  readonly epoch: string;
  readonly key: string;
  readonly id: number | undefined;
  readonly tables: BroadcastTables;
  /** In front of the keys under which sockets are remembered. */
  readonly prefix: string;
}

export class SqlRecoveryLog implements RecoveryLog {
  readonly #storage: DurableObjectStorage;
  readonly #options: SqlRecoveryLogOptions;
  /** Sockets that are there, in this life of the object. */
  readonly #present = new Set<string>();
  #opened: OpenLog | undefined;

  /** @throws RangeError when the name is none */
  constructor(storage: DurableObjectStorage, options: SqlRecoveryLogOptions) {
    if (options.name !== undefined) checkLogName(options.name);
    this.#storage = storage;
    this.#options = options;
  }

  get #open(): OpenLog {
    return (this.#opened ??= open(this.#storage, this.#options));
  }

  get epoch(): string {
    return this.#open.epoch;
  }

  get key(): string {
    return this.#open.key;
  }

  get lastSeq(): number {
    return this.#open.tables.lastSeq;
  }

  append(broadcast: Broadcast): number {
    const { tables } = this.#open;
    const nowMs = this.#options.now();
    if (tables.takeTurns(nowMs)) this.#forgetGone(nowMs);
    return tables.append(broadcast, nowMs);
  }

  since(seq: number, { id, channels }: { id: string; channels: readonly string[] }): MissedEvent[] | undefined {
    return this.#open.tables.since(seq, new Set([id, ...channels]));
  }

  /** Kept as a structured clone, which carries whatever `socket.data` may hold. */
  remember(id: string, socket: RememberedSocket): void {
    if (socket.goneAtMs === undefined) this.#present.add(id);
    else this.#present.delete(id);
    this.#storage.kv.put(`${this.#open.prefix}${id}`, socket);
  }

  recall(id: string): RememberedSocket | undefined {
    return this.#storage.kv.get<RememberedSocket>(`${this.#open.prefix}${id}`);
  }

  retain(id: string): void {
    this.#present.add(id);
  }

  close(): void {
    if (this.#opened?.id !== undefined) closeNamedLog(this.#storage, this.#opened.id, this.#options.now());
    this.#opened = undefined;
    this.#present.clear();
  }

  /** Forgets those who have been gone for a window. Whoever went with an earlier life of the object is gone from now on. */
  #forgetGone(nowMs: number): void {
    const { prefix } = this.#open;
    for (const [key, socket] of this.#storage.kv.list<RememberedSocket>({ prefix })) {
      const { goneAtMs } = socket;
      if (goneAtMs !== undefined && nowMs - goneAtMs > this.#options.windowMs) this.#storage.kv.delete(key);
      else if (goneAtMs === undefined && !this.#present.has(key.slice(prefix.length))) {
        this.#storage.kv.put(key, { ...socket, goneAtMs: nowMs });
      }
    }
  }
}

function open(storage: DurableObjectStorage, { name, windowMs, now, newName }: SqlRecoveryLogOptions): OpenLog {
  const { sql } = storage;
  const log = name === undefined ? undefined : openNamedLog(storage, name, { windowMs, nowMs: now(), newName });
  const { epoch, key } = log ?? nameLog(sql, newName);
  const tables = new BroadcastTables(sql, tablesOf(log?.id), { windowMs, nowMs: now() });
  return { epoch, key, id: log?.id, tables, prefix: rememberedPrefixOf(log?.id) };
}
