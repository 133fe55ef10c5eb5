// The rows of sockets that may come back, one each, written when a socket has changed. Called by recovery.ts.
import { fingerprint } from "../storage/fingerprint.ts";
import { withoutProxies, type AsleepRecord } from "./asleep-record.ts";
import type { KnownSocket, SocketRecord, StockSocket } from "./known-socket.ts";

/** The values of an object, as far as this file uses them. */
export interface KeyValues {
  get(key: string): unknown;
  put(key: string, value: unknown): void;
  delete(key: string): boolean;
  list(options: { readonly prefix: string }): Iterable<[string, unknown]>;
}

interface RowsPorts {
  readonly kv: KeyValues;
  now(): number;
  report(problem: string, error: unknown): void;
  /** Calls `flush` at the end of the running code. */
  flushSoon(): void;
  /** Calls `look` at that time. */
  lookAt(atMs: number): void;
  /** All that are connected. */
  present(): Iterable<KnownSocket>;
  /** If the object sleeps while sockets are connected. */
  readonly sleeping?: SleepingPorts | undefined;
}

export interface SleepingPorts {
  readonly asleepOf: (socket: StockSocket, data: unknown) => AsleepRecord;
}

/** Stands for a socket that could not be stored: the connection to which it belonged cannot come back whole. */
interface LostRecord {
  readonly lostOf: string;
}

const PREFIX = "stock-session:";

/** Characters of a socket's rooms and data as JSON: one with more is recovered only as long as the object lives. */
export const SOCKET_CHARS_MAX = 65_536;

/** As long after it was read, `socket.data` is looked at again: code may go on with it after an `await`, as in `data.user = await …`. */
const WARM_MS = 10_000;
const LOOK_MS = 1000;

export class SocketRows {
  readonly #ports: RowsPorts;
  /** The fingerprint of each row, by private ids. */
  readonly #stored = new Map<string, string | undefined>();
  /** Perhaps changed since they were stored. */
  readonly #touched = new Set<KnownSocket>();
  /** Those whose data were read lately, with the time to which they are looked at. */
  readonly #warm = new Map<KnownSocket, number>();
  /** When code of the application ran, if all are to be looked at after that. */
  #activeAtMs: number | undefined;
  /** Private ids of those that cannot be stored. */
  readonly #unstorable = new Set<string>();
  /** Connections of which an earlier instance could not store a socket. */
  readonly lost = new Set<string>();
  #hasReported = false;
  /** Properties of sockets are read to be stored, which is no use of theirs, also if one reads `socket.data`. */
  #isStoring = false;

  constructor(ports: RowsPorts) {
    this.#ports = ports;
  }

  load(): Array<[pid: string, record: SocketRecord]> {
    const records: Array<[string, SocketRecord]> = [];
    const rows = [...this.#ports.kv.list({ prefix: PREFIX })] as Array<[string, SocketRecord | LostRecord]>;
    for (const [key, record] of rows) {
      if ("lostOf" in record) {
        this.lost.add(record.lostOf);
        this.#ports.kv.delete(key);
        continue;
      }
      const pid = key.slice(PREFIX.length);
      this.#stored.set(pid, printOf(record));
      records.push([pid, record]);
    }
    return records;
  }

  read(pid: string): SocketRecord | undefined {
    return this.#ports.kv.get(PREFIX + pid) as SocketRecord | undefined;
  }

  /** Called when a socket may have changed. */
  touch(known: KnownSocket): void {
    if (!known.isStored) return;
    this.#touched.add(known);
    this.#ports.flushSoon();
  }

  /** Called when the application has read or set its data, and may go on with them. */
  used(known: KnownSocket): void {
    if (!known.isStored || this.#isStoring) return;
    this.touch(known);
    if (this.#ports.sleeping) this.active();
    else this.#warmUp(known, WARM_MS);
  }

  /** Has a socket looked at once, a second later. */
  later(known: KnownSocket): void {
    this.#warmUp(known, 0);
  }

  #warmUp(known: KnownSocket, forMs: number): void {
    const nowMs = this.#ports.now();
    if (!this.#warm.has(known)) this.#ports.lookAt(nowMs + LOOK_MS);
    this.#warm.set(known, nowMs + forMs);
  }

  /**
   * Called when code of the application runs. If the object sleeps, all sockets are looked at a second later: any code may change any of them,
   * and to look for longer would keep the object awake.
   */
  active(): void {
    if (!this.#ports.sleeping) return;
    const nowMs = this.#ports.now();
    if (this.#activeAtMs === undefined) this.#ports.lookAt(nowMs + LOOK_MS);
    this.#activeAtMs = nowMs;
  }

  /** Called before something is sent to a socket alone, by which its client may learn of a change. */
  sending(known: KnownSocket): void {
    if (this.#ports.sleeping ? !this.#unstorable.has(known.pid) : this.#warm.has(known)) this.touch(known);
  }

  /** @returns the time of the next look, if there has to be one */
  look(nowMs: number): number | undefined {
    if (this.#activeAtMs !== undefined) {
      for (const known of this.#ports.present()) this.sending(known);
      const nextMs = this.#activeAtMs + LOOK_MS;
      if (nextMs > nowMs) return nextMs;
      this.#activeAtMs = undefined;
    }
    for (const [known, untilMs] of this.#warm) {
      this.touch(known);
      if (untilMs <= nowMs) this.#warm.delete(known);
    }
    return this.#warm.size > 0 ? nowMs + LOOK_MS : undefined;
  }

  /** Stores what has changed. */
  flush(): void {
    if (this.#touched.size === 0) return;
    const touched = [...this.#touched];
    this.#touched.clear();
    this.#isStoring = true;
    for (const known of touched) this.#store(known);
    this.#isStoring = false;
  }

  #store(known: KnownSocket): void {
    try {
      this.#put(known);
    } catch (error) {
      const problem = `socket ${known.sid} cannot be stored with its rooms and data, and does not survive a crash`;
      if (!this.#hasReported) this.#ports.report(problem, error);
      this.#hasReported = true;
      try {
        this.#lose(known);
      } catch {
        // The storage fails, not this socket.
        this.#unstorable.delete(known.pid);
        this.later(known);
      }
    }
  }

  #lose({ pid, socket }: KnownSocket): void {
    if (this.#unstorable.has(pid)) return;
    this.#delete(pid);
    this.#unstorable.add(pid);
    if (!this.#ports.sleeping || !socket) return;
    this.#ports.kv.put(PREFIX + pid, { lostOf: socket.conn.id } satisfies LostRecord);
    this.#stored.set(pid, undefined);
  }

  /** As a structured clone, which carries everything that `socket.data` should hold. */
  #put(known: KnownSocket): void {
    const { pid } = known;
    const record = known.toRecord(this.#ports.sleeping?.asleepOf);
    const print = printOf(record);
    if (print !== undefined && print === this.#stored.get(pid)) return;
    if (print !== undefined && print.length > SOCKET_CHARS_MAX)
      throw new Error(`more than ${SOCKET_CHARS_MAX} characters`);
    try {
      this.#ports.kv.put(PREFIX + pid, record);
    } catch {
      this.#ports.kv.put(PREFIX + pid, withoutProxies(record));
    }
    this.#stored.set(pid, print);
    this.#unstorable.delete(pid);
  }

  delete(known: KnownSocket): void {
    this.#touched.delete(known);
    this.#warm.delete(known);
    this.#delete(known.pid);
  }

  #delete(pid: string): void {
    this.#unstorable.delete(pid);
    if (!this.#stored.has(pid)) return;
    this.#ports.kv.delete(PREFIX + pid);
    this.#stored.delete(pid);
  }
}

function printOf({ asleep, ...record }: SocketRecord): string | undefined {
  if (!asleep) return fingerprint(record);
  // They never change.
  const { request: _request, issued: _issued, ...changing } = asleep;
  return fingerprint({ ...record, asleep: changing });
}
