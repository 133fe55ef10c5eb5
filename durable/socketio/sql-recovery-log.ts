// A recovery log for applications that keep no events of their own: stores every broadcast, and the state of recoverable sockets. One
// object may hold several, each under a name. Made by applications for their namespaces.
import { nameLife } from "../../src/socketio/recovery/lives.ts";
import type {
  Broadcast,
  MissedEvent,
  RecoveryLog,
  RememberedSocket,
  WasIn,
} from "../../src/socketio/recovery/recovery.ts";
import { BroadcastTables } from "./broadcast-tables.ts";
import { nameLog } from "../sql/log-name.ts";
import { checkLogName, closeNamedLog, openNamedLog, rememberedPrefixOf, tablesOf } from "./named-logs.ts";
import { RememberedSockets } from "./remembered-sockets.ts";

export interface SqlRecoveryLogOptions {
  /** The namespace's recovery window: older events need not be kept. */
  readonly windowMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Makes a name or a key that cannot be guessed. */
  readonly newName: () => string;
  /**
   * Tells this log from the others of its object, best by its namespace's own name: 1 to `LOG_NAME_CHARS_MAX` characters.
   * One log of an object may do without. A named one is dropped when its namespace was empty for a window.
   */
  readonly name?: string;
}

/** A log in use: nothing is stored before the first socket of its namespace. */
interface OpenLog {
  readonly epoch: string;
  readonly key: string;
  readonly id: number | undefined;
  readonly tables: BroadcastTables;
  readonly sockets: RememberedSockets;
}

export class SqlRecoveryLog implements RecoveryLog {
  readonly #storage: DurableObjectStorage;
  readonly #options: SqlRecoveryLogOptions;
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

  lifeAt(seq: number): string | undefined {
    return this.#open.tables.lifeAt(seq);
  }

  append(broadcast: Broadcast): number {
    return this.#open.tables.append(broadcast, this.#options.now());
  }

  since(seq: number, wasIn: WasIn): MissedEvent[] | undefined {
    return this.#open.tables.since(seq, wasIn);
  }

  remember(id: string, socket: RememberedSocket): void {
    this.#open.sockets.remember(id, socket, this.#options.now());
  }

  recall(id: string): RememberedSocket | undefined {
    return this.#open.sockets.recall(id);
  }

  retain(id: string): void {
    this.#open.sockets.retain(id);
  }

  close(): void {
    if (this.#opened?.id !== undefined) closeNamedLog(this.#storage, this.#opened.id, this.#options.now());
    this.#opened = undefined;
  }
}

function open(storage: DurableObjectStorage, { name, windowMs, now, newName }: SqlRecoveryLogOptions): OpenLog {
  const { sql } = storage;
  const log = name === undefined ? undefined : openNamedLog(storage, name, { windowMs, nowMs: now(), newName });
  const { epoch, key } = log ?? nameLog(sql, newName);
  const newLife = (before: string): string => nameLife(now(), newName(), before);
  const tables = new BroadcastTables(sql, tablesOf(log?.id), { windowMs, nowMs: now(), newLife });
  const sockets = new RememberedSockets(storage.kv, rememberedPrefixOf(log?.id), windowMs);
  return { epoch, key, id: log?.id, tables, sockets };
}
