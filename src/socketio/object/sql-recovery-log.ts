// A recovery log for applications that store no events themselves: stores every broadcast, and the states of recoverable sockets. An
// object may have several, each with a name. Made by state-recovery.ts.
import { nameIncarnation } from "../../storage/incarnations.ts";
import type { Broadcast, MissedEvent, RecoveryLog, RememberedSocket, WasIn } from "../recovery/recovery.ts";
import { BroadcastTables } from "./broadcast-tables.ts";
import { nameLog } from "./log-name.ts";
import { checkLogName, closeNamedLog, openNamedLog, rememberedPrefixOf, tablesOf } from "./named-logs.ts";

export interface SqlRecoveryLogOptions {
  /** The recovery window of the namespace: older events need not be kept. */
  readonly windowMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Makes a name or a key that cannot be guessed. */
  readonly newName: () => string;
  /**
   * Names this log among those of its object, best after its namespace: 1 to `LOG_NAME_CHARS_MAX` characters. One log of an object needs no
   * name. A log with a name is dropped when its namespace was empty for a window.
   */
  readonly name?: string;
}

/** An open log. It opens with the first socket of its namespace; nothing is stored before. */
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

  /** @throws RangeError when the name is not valid */
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

  incarnationAt(seq: number): string | undefined {
    return this.#open.tables.incarnationAt(seq);
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
  const newIncarnation = (before: string): string => nameIncarnation(now(), newName(), before);
  const tables = new BroadcastTables(sql, tablesOf(log?.id), { windowMs, nowMs: now(), newIncarnation });
  const sockets = new RememberedSockets(storage.kv, rememberedPrefixOf(log?.id), windowMs);
  return { epoch, key, id: log?.id, tables, sockets };
}

/** The states of recoverable sockets: a row each, kept until its socket cannot be recovered any more. */
class RememberedSockets {
  readonly #kv: SyncKvStorage;
  readonly #prefix: string;
  readonly #windowMs: number;
  /** Sockets that are connected to this instance of the object. */
  readonly #present = new Set<string>();
  #sweptAtMs: number | undefined;

  /** @param prefix in front of the keys of all rows, and of nothing else */
  constructor(kv: SyncKvStorage, prefix: string, windowMs: number) {
    this.#kv = kv;
    this.#prefix = prefix;
    this.#windowMs = windowMs;
  }

  /** Stores the state as a structured clone, which carries everything that `socket.data` may hold. */
  remember(id: string, socket: RememberedSocket, nowMs: number): void {
    const isGone = socket.goneAtMs !== undefined;
    const comesOrGoes = isGone || !this.#present.has(id);
    if (isGone) this.#present.delete(id);
    else this.#present.add(id);
    this.#kv.put(`${this.#prefix}${id}`, socket);
    // Only when a socket comes or goes, because otherwise no row was added.
    if (comesOrGoes && (this.#sweptAtMs === undefined || nowMs - this.#sweptAtMs > this.#windowMs)) this.#sweep(nowMs);
  }

  recall(id: string): RememberedSocket | undefined {
    return this.#kv.get<RememberedSocket>(`${this.#prefix}${id}`);
  }

  retain(id: string): void {
    this.#present.add(id);
  }

  /** Deletes the rows of sockets that are gone for a window. That of sockets of an earlier instance begins now. */
  #sweep(nowMs: number): void {
    this.#sweptAtMs = nowMs;
    for (const [key, socket] of this.#kv.list<RememberedSocket>({ prefix: this.#prefix })) {
      const { goneAtMs } = socket;
      if (goneAtMs !== undefined && nowMs - goneAtMs > this.#windowMs) this.#kv.delete(key);
      else if (goneAtMs === undefined && !this.#present.has(key.slice(this.#prefix.length))) {
        this.#kv.put(key, { ...socket, goneAtMs: nowMs });
      }
    }
  }
}
