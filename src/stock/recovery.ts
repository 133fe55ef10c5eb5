// Connection state recovery of a stock server that outlives crashes: keeps its sockets and the packets that they may have missed in the
// storage of the object. Called by the adapter of each namespace (recovery-adapter.ts), and by the layer before frames leave.
import { nameIncarnation } from "../storage/incarnations.ts";
import type { Sql } from "../storage/window-tables.ts";
import type { Frame } from "../socketio/wire/engine-io.ts";
import type { AsleepRecord } from "./asleep-record.ts";
import {
  ASLEEP_OFFSET,
  newcomer,
  offsetOf,
  knownFrom,
  type Away,
  type KnownSocket,
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
export interface RecoveredSession {
  readonly sid: string;
  readonly pid: string;
  readonly rooms: readonly string[];
  readonly data: unknown;
  /** None: it gets them when it is in the namespace, together with those that came until then. */
  readonly missedPackets: readonly [];
}

/** A socket that is not yet in its namespace again: its client has come back, or it slept and is being restored. */
interface Recovering {
  readonly known: KnownSocket;
  /** Also what comes while its middlewares run; nothing once its connection is over. */
  missed: Frame[][] | undefined;
  /** Called when it is in its namespace, or its connection is over: nobody has to wait for it any longer. */
  readonly settle: () => void;
}

/** Sockets that may come back: beyond it those that left first cannot. */
export const GONE_MAX = 10_000;

export class Recovery {
  readonly #times: RecoveryTimes;
  #ports!: RecoveryPorts;
  #log!: PacketLog;
  #rows!: SocketRows;
  /** By their private ids; those that are gone in the order in which they left. */
  readonly #known = new Map<string, KnownSocket>();
  /** Connected ones, by their ids. */
  readonly #present = new Map<string, KnownSocket>();
  readonly #recovering = new Map<string, Recovering>();
  /** Until the object has started, and while sockets are restored whose connections slept: what code does then is undone. */
  #isStarting = true;
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
    const within = { flushSoon: () => this.#flushSoon(), present: () => this.#present.values() };
    const rows = new SocketRows({ ...ports, ...within, kv: storage.kv });
    const records = rows.load();
    // They name incarnations of which no packet is stored, too.
    const lastLife = records.reduce((last, [, { life }]) => later(last, life), "");
    const newIncarnation = (before: string): string => nameIncarnation(nowMs, ports.newId(), later(before, lastLife));
    const hasSlept = sleeping?.hasSlept ?? false;
    const log = new PacketLog(storage.sql, { windowMs: this.#keptMs, nowMs, newIncarnation, beginsAgain: !hasSlept });
    this.#ports = ports;
    this.#log = log;
    this.#rows = rows;
    this.#isStarting = hasSlept;
    for (const all of [this.#known, this.#present, this.#recovering]) all.clear();
    const last = { atMs: log.newestAtMs, life: log.newestLife };
    for (const row of records) {
      const known = knownFrom(row, nowMs, last);
      this.#known.set(known.pid, known);
      log.beginAfter(Math.max(known.begun.seq, known.history.lastSeq));
    }
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

  // ---- packets ------------------------------------------------------------------------------------------------

  /** The offset of the packet that is appended next; without one, nobody can miss it. */
  get nextOffset(): string | undefined {
    if (!this.isAwaiting) return undefined;
    const { incarnation, lastSeq } = this.#log;
    return offsetOf({ life: incarnation, seq: lastSeq + 1 });
  }

  append(recipients: Recipients, frames: readonly Frame[]): void {
    const nowMs = this.#ports.now();
    this.#shielded(() => this.#log.append(recipients, frames, nowMs));
    for (const { known, missed } of this.#recovering.values())
      if (missed && known.isAmong(recipients, this.#log.lastSeq)) missed.push([...frames]);
    this.#packetsAtMs = nowMs;
    this.#ports.sweepAt(nowMs + this.#keptMs + 1);
    this.#flushSoon();
  }

  // ---- sockets ------------------------------------------------------------------------------------------------

  isPresent(id: string): boolean {
    return this.#present.has(id);
  }

  /** Called when a socket is in its namespace, before its client gets the answer to its CONNECT. @returns the packets that it missed */
  entered(nsp: string, socket: StockSocket): readonly Frame[][] {
    const position = { life: this.#log.incarnation, seq: this.#log.lastSeq };
    const recovering = this.#recovering.get(socket.id);
    this.#recovering.delete(socket.id);
    const known = recovering?.known ?? newcomer(nsp, socket, position);
    known.enter(socket, position, { read: () => this.#rows.used(known), looked: () => this.#rows.touch(known) });
    this.#known.set(known.pid, known);
    this.#present.set(known.sid, known);
    this.#rows.touch(known);
    recovering?.settle();
    return recovering?.missed ?? [];
  }

  /** Called when code of the application runs, or has sent something. */
  active(): void {
    if (!this.#isStarting) this.#rows.active();
  }

  /** Called before something is sent to a socket alone, by which its client may learn of a change. */
  sending(id: string): void {
    const known = this.#present.get(id);
    if (known) this.#rows.sending(known);
  }

  // ---- sockets whose connections slept with the object --------------------------------------------------------

  /** @returns by the ids of their connections, those that were connected when an earlier instance stored them; none if one of them is lost */
  asleep(): ReadonlyMap<string, readonly KnownSocket[]> {
    const away = [...this.#known.values()].filter(({ asleep }) => asleep && !this.#rows.lost.has(asleep.session));
    return Map.groupBy(away, ({ asleep }) => asleep!.session);
  }

  /** Called when one is about to be restored. It gets what is sent meanwhile. @returns done when it is in its namespace */
  beginRestoring(known: KnownSocket): Promise<void> {
    known.isRestoring = true;
    return new Promise((settle) => this.#recovering.set(known.sid, { known, missed: [], settle }));
  }

  /** @returns as what the socket with an id was stored, if it is being restored */
  restoring(id: string): AsleepRecord | undefined {
    const known = this.#recovering.get(id)?.known;
    return known?.isRestoring ? known.asleep : undefined;
  }

  /** Called when it is restored, or was not in time. @returns as what it is stored, if it is there */
  endRestoring(known: KnownSocket): SocketRecord | undefined {
    this.#recovering.delete(known.sid);
    known.isRestoring = false;
    this.#rows.touch(known);
    return known.socket && this.#rows.read(known.pid);
  }

  /** Called when all are restored that could be: the others are gone since now. */
  allRestored(nowMs: number): void {
    this.#isStarting = false;
    for (const known of this.#known.values()) if (known.asleep) this.#rows.later(known);
    this.sweep(nowMs);
  }

  // ---- sockets that come and go -------------------------------------------------------------------------------

  joined(id: string, rooms: Iterable<string>): void {
    const known = this.#present.get(id);
    if (!known) return;
    for (const room of rooms) known.history.join(room, this.#log.lastSeq);
    this.#rows.touch(known);
  }

  exited(id: string, room: string): void {
    const known = this.#present.get(id);
    if (!known) return;
    known.history.leave(room, this.#log.lastSeq);
    this.#rows.touch(known);
  }

  /** Called when a connection broke: its client may come back. */
  broke(id: string, rooms: readonly string[]): void {
    const known = this.#present.get(id);
    if (!known) return;
    // Its client is back, over another connection, before what listeners for `connection` did is undone.
    if (known.isRestoring) known.data = this.#rows.read(known.pid)?.data;
    known.leave(rooms, this.#ports.now());
    this.#present.delete(id);
    this.#known.delete(known.pid);
    this.#known.set(known.pid, known);
    this.#rows.touch(known);
    this.#ports.sweepAt(this.#ports.now() + this.#times.windowMs + 1);
    if (this.#known.size - this.#present.size <= GONE_MAX) return;
    for (const first of this.#known.values())
      if (first.away && !this.#recovering.has(first.sid)) return this.#drop(first);
  }

  /**
   * Called when a socket is recovering: a middleware may hold it for ever.
   * @returns to be called when its connection is over
   */
  givesUp(id: string): () => void {
    const recovering = this.#recovering.get(id);
    return () => {
      if (!recovering) return;
      recovering.missed = undefined;
      recovering.settle();
    };
  }

  /** Called when a socket is over, perhaps after `broke`. */
  ended(id: string): void {
    // It was refused while it was recovering, and may try again.
    this.#recovering.delete(id);
    const known = this.#present.get(id);
    if (known) this.#drop(known);
  }

  /** @returns the socket of a client that comes back, if all that it missed is known */
  recover(nsp: string, pid: string, offset: string): RecoveredSession | null {
    const known = this.#known.get(pid);
    if (known?.nsp !== nsp) return null;
    const { sid } = known;
    // One that is recovering does so once.
    const isRecovering =
      offset === ASLEEP_OFFSET
        ? this.restoring(sid) !== undefined
        : !this.#recovering.has(sid) && this.#recovers(known, offset);
    return isRecovering ? { sid, pid, rooms: known.rooms, data: known.data, missedPackets: [] } : null;
  }

  /** @returns whether all that it missed is known; otherwise it is forgotten */
  #recovers(known: KnownSocket, offset: string): boolean {
    // Nobody has noticed that its connection broke.
    known.socket?.conn.close(true);
    const { away } = known;
    // A listener for its end failed.
    if (!away) return false;
    this.flush();
    const sinceMs = away.brokeAtMs - this.#times.unnoticedMs;
    const missed = this.#isOver(away) ? undefined : this.#log.missedBy(known, offset, sinceMs);
    if (missed) this.#recovering.set(known.sid, { known, missed, settle: () => {} });
    else this.#drop(known);
    return missed !== undefined;
  }

  #isOver({ goneAtMs }: Away): boolean {
    return this.#ports.now() - goneAtMs > this.#times.windowMs;
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
    this.#shielded(() => this.#log.flush(this.#ports.now()));
    this.#shielded(() => this.#rows.flush());
  }

  #drop(known: KnownSocket): void {
    known.forget();
    this.#known.delete(known.pid);
    for (const bySid of [this.#present, this.#recovering]) bySid.delete(known.sid);
    this.#shielded(() => this.#rows.delete(known));
    if (!this.isAwaiting) this.#ports.onEmpty();
  }

  /** Looks at what may have changed. */
  look(nowMs: number): void {
    const nextMs = this.#rows.look(nowMs);
    if (nextMs !== undefined) this.#ports.lookAt(nextMs);
  }

  /** Deletes what is too old. */
  sweep(nowMs: number): void {
    const { windowMs } = this.#times;
    let nextMs = Infinity;
    for (const known of this.#known.values()) {
      const { away } = known;
      if (!away) continue;
      if (!this.#isOver(away)) nextMs = Math.min(nextMs, away.goneAtMs + windowMs + 1);
      else if (this.#recovering.get(known.sid)?.missed) nextMs = Math.min(nextMs, nowMs + windowMs + 1);
      else this.#drop(known);
    }
    this.#shielded(() => this.#sweepPackets(nowMs));
    if (this.#packetsAtMs !== undefined) nextMs = Math.min(nextMs, this.#packetsAtMs + this.#keptMs + 1);
    if (nextMs < Infinity) this.#ports.sweepAt(nextMs);
  }

  #sweepPackets(nowMs: number): void {
    if (!this.isAwaiting) this.#log.drop();
    else if (this.#packetsAtMs !== undefined && nowMs - this.#packetsAtMs > this.#keptMs) this.#log.forget(nowMs);
    else return;
    this.#packetsAtMs = undefined;
  }

  #shielded(run: () => void): void {
    try {
      run();
    } catch (error) {
      // Each packet would say it again.
      if (!this.#hasReported) this.#ports.report("packets or sockets could not be stored", error);
      this.#hasReported = true;
    }
  }
}

const later = (one: string, other: string): string => (one > other ? one : other);
