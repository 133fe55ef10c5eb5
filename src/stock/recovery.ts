// Connection state recovery of a stock server that outlives crashes: keeps its sockets and the packets that they may have missed in the
// storage of the object. Called by the adapter of each namespace (recovery-adapter.ts), and by the layer before frames leave.
import { nameIncarnation } from "../socketio/recovery/incarnations.ts";
import type { Sql } from "../socketio/recovery/window-tables.ts";
import type { Frame } from "../socketio/wire/engine-io.ts";
import {
  ASLEEP_OFFSET,
  KnownSocket,
  newcomer,
  offsetOf,
  returned,
  type SocketRecord,
  type StockSocket,
} from "./known-socket.ts";
import { PacketLog, type Recipients } from "./packet-log.ts";
import { SocketRows, type KeyValues, type SleepingPorts } from "./socket-rows.ts";

export interface RecoveryPorts {
  /** That of the object, as far as recovery uses it. */
  readonly storage: { readonly sql: Sql; readonly kv: KeyValues };
  now(): number;
  newId(): string;
  report(problem: string, error: unknown): void;
  /** Calls `sweep` at that time at the latest, also if the object sleeps until then. */
  sweepAt(atMs: number): void;
  /** Calls `look` at that time, which is near. */
  lookAt(atMs: number): void;
  /** Called when no socket is connected, and none may recover any more. */
  onEmpty(): void;
  /** If the object sleeps while sockets are connected. */
  readonly sleeping?: (SleepingPorts & { readonly hasSlept: boolean }) | undefined;
}

export interface RecoveryTimes {
  /** How long a client may be away. */
  readonly windowMs: number;
  /** How long a broken connection may go unnoticed. */
  readonly unnoticedMs: number;
}

/** What the package gets back of a socket. */
export interface RestoredSession {
  readonly sid: string;
  readonly pid: string;
  readonly rooms: readonly string[];
  readonly data: unknown;
  /** None: it gets them when it is in the namespace, together with those that came until then. */
  readonly missedPackets: readonly [];
}

/** A socket on its way back. */
interface Returning {
  readonly known: KnownSocket;
  /** Also what comes while its middlewares run; nothing once its connection is over. */
  missed: Frame[][] | undefined;
}

interface Opened {
  readonly ports: RecoveryPorts;
  readonly log: PacketLog;
  readonly rows: SocketRows;
}

/** Sockets that may come back: beyond it those that left first cannot. */
export const GONE_MAX = 10_000;

export class Recovery {
  readonly #times: RecoveryTimes;
  #opened: Opened | undefined;
  /** By their private ids; those that are gone in the order in which they left. */
  readonly #known = new Map<string, KnownSocket>();
  /** Connected ones, by their ids. */
  readonly #present = new Map<string, KnownSocket>();
  readonly #returning = new Map<string, Returning>();
  /** Whether sockets are coming back whose connections slept. */
  #isWaking = false;
  #isDue = false;
  #hasReported = false;
  /** When the last packet came, if any is stored. */
  #packetsAtMs: number | undefined;

  constructor(times: RecoveryTimes) {
    this.#times = times;
  }

  /**
   * Called when the object starts, before any connection, and again when its storage was erased. `sweep` follows, once sockets that slept are
   * back.
   */
  open(ports: RecoveryPorts): void {
    const { storage, sleeping } = ports;
    const nowMs = ports.now();
    const rows = new SocketRows({
      kv: storage.kv,
      now: () => ports.now(),
      report: (problem, error) => ports.report(problem, error),
      flushSoon: () => this.#flushSoon(),
      lookAt: (atMs) => ports.lookAt(atMs),
      present: () => this.#present.values(),
      sleeping,
    });
    const records = rows.load();
    // They name incarnations of which no packet is stored, too.
    const lastLife = records.reduce((last, [, { life }]) => later(last, life), "");
    const newIncarnation = (before: string): string => nameIncarnation(nowMs, ports.newId(), later(before, lastLife));
    const hasSlept = sleeping?.hasSlept ?? false;
    const log = new PacketLog(storage.sql, { windowMs: this.#keptMs, nowMs, newIncarnation, beginsAgain: !hasSlept });
    this.#opened = { ports, log, rows };
    this.#isWaking = hasSlept;
    for (const all of [this.#known, this.#present, this.#returning]) all.clear();
    const last = { atMs: log.newestAtMs, life: log.newestLife };
    for (const [pid, record] of records) this.#known.set(pid, returned(new KnownSocket(pid, record), nowMs, last));
    const newestAtMs = Math.max(log.newestAtMs, ...records.map(([, { goneAtMs = 0 }]) => goneAtMs));
    this.#packetsAtMs = log.isForgotten ? undefined : hasSlept ? newestAtMs : nowMs;
  }

  /** Whether somebody is there, or may come back. */
  get isAwaiting(): boolean {
    return this.#known.size > 0;
  }

  /** How long packets are kept. */
  get #keptMs(): number {
    return this.#times.windowMs + this.#times.unnoticedMs;
  }

  get #parts(): Opened {
    if (!this.#opened) throw new Error("the server has not started yet");
    return this.#opened;
  }

  // ---- packets ------------------------------------------------------------------------------------------------

  /** The offset of the packet that is appended next; without one, nobody can miss it. */
  get nextOffset(): string | undefined {
    if (!this.isAwaiting) return undefined;
    const { incarnation, lastSeq } = this.#parts.log;
    return offsetOf({ life: incarnation, seq: lastSeq + 1 });
  }

  append(recipients: Recipients, frames: readonly Frame[]): void {
    const { log, ports } = this.#parts;
    const nowMs = ports.now();
    this.#shielded(() => log.append(recipients, frames, nowMs));
    for (const { known, missed } of this.#returning.values())
      if (missed && known.isAmong(recipients, log.lastSeq)) missed.push([...frames]);
    this.#packetsAtMs = nowMs;
    ports.sweepAt(nowMs + this.#keptMs + 1);
    this.#flushSoon();
  }

  // ---- sockets ------------------------------------------------------------------------------------------------

  isPresent(id: string): boolean {
    return this.#present.has(id);
  }

  /** Called when a socket is in its namespace, before its client gets the answer to its CONNECT. @returns the packets that it missed */
  entered(nsp: string, socket: StockSocket): readonly Frame[][] {
    const { log, rows } = this.#parts;
    const { incarnation, lastSeq } = log;
    const returning = this.#returning.get(socket.id);
    this.#returning.delete(socket.id);
    const known = returning?.known ?? newcomer(nsp, socket, { life: incarnation, seq: lastSeq });
    const before = known.rooms;
    known.enter(socket, { read: () => rows.used(known), looked: () => rows.touch(known) });
    // Otherwise each wake would write a row of each socket.
    if (!known.isWaking) known.life = incarnation;
    known.reconcile(before, lastSeq);
    this.#known.set(known.pid, known);
    this.#present.set(known.sid, known);
    rows.touch(known);
    return returning?.missed ?? [];
  }

  /** Called when code of the application runs, or has sent something. */
  active(): void {
    // What code does that brings sockets back is undone.
    if (!this.#isWaking) this.#opened?.rows.active();
  }

  /** Called before something is sent to a socket alone, by which its client may learn of a change. */
  sending(id: string): void {
    const known = this.#present.get(id);
    if (known) this.#parts.rows.sending(known);
  }

  // ---- sockets whose connections slept with the object --------------------------------------------------------

  /** @returns by the ids of their connections, those that were connected when an earlier instance stored them; none if one of them is lost */
  asleep(): ReadonlyMap<string, readonly KnownSocket[]> {
    const { rows } = this.#parts;
    const away = [...this.#known.values()].filter(({ asleep }) => asleep && !rows.lost.has(asleep.session));
    return Map.groupBy(away, ({ asleep }) => asleep!.session);
  }

  /** Called when one is about to come back. It gets what is sent meanwhile. @returns done when it is in its namespace */
  wakes(known: KnownSocket): Promise<void> {
    this.#returning.set(known.sid, { known, missed: [] });
    return known.wakes();
  }

  /** @returns the socket on its way back that has an id */
  waking(id: string): KnownSocket | undefined {
    const known = this.#returning.get(id)?.known;
    return known?.isWaking ? known : undefined;
  }

  /** Called when it is back, or was not in time. @returns as what it is stored, if it is there */
  woken(known: KnownSocket): SocketRecord | undefined {
    if (!known.socket) this.#returning.delete(known.sid);
    known.woken();
    this.#parts.rows.touch(known);
    return known.socket && this.#parts.rows.read(known.pid);
  }

  /** Called when all are back that came: the others are gone since now. */
  allWoken(nowMs: number): void {
    this.#isWaking = false;
    const { rows } = this.#parts;
    for (const known of this.#known.values()) if (known.asleep) rows.later(known);
    this.sweep(nowMs);
  }

  // ---- sockets that come and go -------------------------------------------------------------------------------

  joined(id: string, rooms: Iterable<string>): void {
    const known = this.#present.get(id);
    if (!known) return;
    for (const room of rooms) known.history.join(room, this.#parts.log.lastSeq);
    this.#parts.rows.touch(known);
  }

  exited(id: string, room: string): void {
    const known = this.#present.get(id);
    if (!known) return;
    known.history.leave(room, this.#parts.log.lastSeq);
    this.#parts.rows.touch(known);
  }

  /** Called when a connection broke: its client may come back. */
  broke(id: string, rooms: readonly string[]): void {
    const known = this.#present.get(id);
    if (!known) return;
    const { ports } = this.#parts;
    known.leave(rooms, ports.now());
    this.#present.delete(id);
    this.#known.delete(known.pid);
    this.#known.set(known.pid, known);
    this.#parts.rows.touch(known);
    ports.sweepAt(ports.now() + this.#times.windowMs + 1);
    if (this.#known.size - this.#present.size <= GONE_MAX) return;
    for (const first of this.#known.values()) if (!first.socket) return this.#drop(first);
  }

  /**
   * Called when a socket is on its way back: a middleware may hold it for ever.
   * @returns to be called when its connection is over
   */
  givesUp(id: string): () => void {
    const returning = this.#returning.get(id);
    return () => {
      if (!returning) return;
      returning.missed = undefined;
      returning.known.settle();
    };
  }

  /** Called when a socket is over, perhaps after `broke`. */
  ended(id: string): void {
    // It was refused on its way back, and may try again.
    this.#returning.delete(id);
    const known = this.#present.get(id);
    if (known) this.#drop(known);
  }

  /** @returns the socket of a client that comes back, if all that it missed is known */
  restore(nsp: string, pid: string, offset: string): RestoredSession | null {
    const known = this.#known.get(pid);
    if (known?.nsp !== nsp) return null;
    const { sid, rooms } = known;
    if (this.#returning.has(sid) || offset === ASLEEP_OFFSET)
      return known.isWaking && offset === ASLEEP_OFFSET
        ? { sid, pid, rooms, data: known.data, missedPackets: [] }
        : null;
    // Nobody has noticed that its connection broke.
    known.socket?.conn.close(true);
    // Unless a listener for its end failed.
    if (known.socket) return null;
    this.flush();
    const sinceMs = known.brokeAtMs - this.#times.unnoticedMs;
    const missed = this.#isOver(known) ? undefined : this.#parts.log.missedBy(known, offset, sinceMs);
    if (!missed) {
      this.#drop(known);
      return null;
    }
    this.#returning.set(sid, { known, missed });
    return { sid, pid, rooms: known.rooms, data: known.data, missedPackets: [] };
  }

  #isOver({ goneAtMs = Infinity }: KnownSocket): boolean {
    return this.#parts.ports.now() - goneAtMs > this.#times.windowMs;
  }

  // ---- the storage --------------------------------------------------------------------------------------------

  #flushSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    void Promise.resolve().then(() => this.flush());
  }

  /** Stores what has changed. Called before frames leave, so that the platform holds them back until it is durable. */
  flush(): void {
    this.#isDue = false;
    const { log, ports, rows } = this.#parts;
    this.#shielded(() => log.flush(ports.now()));
    this.#shielded(() => rows.flush());
  }

  #drop(known: KnownSocket): void {
    known.forget();
    this.#known.delete(known.pid);
    this.#present.delete(known.sid);
    this.#shielded(() => this.#parts.rows.delete(known));
    if (!this.isAwaiting) this.#parts.ports.onEmpty();
  }

  /** Looks at what may have changed. */
  look(nowMs: number): void {
    const { ports, rows } = this.#parts;
    const nextMs = rows.look(nowMs);
    if (nextMs !== undefined) ports.lookAt(nextMs);
  }

  /** Deletes what is too old. */
  sweep(nowMs: number): void {
    const { windowMs } = this.#times;
    let nextMs = Infinity;
    for (const known of this.#known.values()) {
      if (known.goneAtMs === undefined) continue;
      if (!this.#isOver(known)) nextMs = Math.min(nextMs, known.goneAtMs + windowMs + 1);
      else if (this.#returning.get(known.sid)?.missed) nextMs = Math.min(nextMs, nowMs + windowMs + 1);
      else {
        this.#returning.delete(known.sid);
        this.#drop(known);
      }
    }
    this.#shielded(() => this.#sweepPackets(nowMs));
    if (this.#packetsAtMs !== undefined) nextMs = Math.min(nextMs, this.#packetsAtMs + this.#keptMs + 1);
    if (nextMs < Infinity) this.#parts.ports.sweepAt(nextMs);
  }

  #sweepPackets(nowMs: number): void {
    const { log } = this.#parts;
    if (!this.isAwaiting) log.drop();
    else if (this.#packetsAtMs !== undefined && nowMs - this.#packetsAtMs > this.#keptMs) log.forget(nowMs);
    else return;
    this.#packetsAtMs = undefined;
  }

  #shielded(run: () => void): void {
    try {
      run();
    } catch (error) {
      // Each packet would say it again.
      if (!this.#hasReported) this.#parts.ports.report("packets or sockets could not be stored", error);
      this.#hasReported = true;
    }
  }
}

const later = (one: string, other: string): string => (one > other ? one : other);
