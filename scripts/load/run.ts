// One load test from beginning to end: all users connect and post, and the test waits for all messages and looks them up.
import os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

import type { LoadArguments } from "./arguments.ts";
import { nowUs } from "./clock.ts";
import { countedBetween, scrape } from "./counted.ts";
import { WorkerPool } from "./worker-pool.ts";
import { checkHistories, type HistoryVerdict } from "./history-check.ts";
import { machineFacts, serverFilesWarning } from "./machine.ts";
import type { FinalReport, Plan, Span } from "./messages.ts";
import type { Progress } from "./progress.ts";
import type { LoadReport } from "./report.ts";
import { RoomIndex } from "./room-index.ts";
import type { ClientSlot } from "./client-slot.ts";
import { seatAll } from "./client-slots.ts";
import { Series } from "./series.ts";
import { ServerWatch } from "./server-watch.ts";
import { placesIn } from "./placed.ts";
import { StolenTime } from "./stolen-time.ts";
import { summarize, type Told } from "./summary.ts";
import type { LoadTarget } from "./target.ts";
import { withTokens } from "./tokens.ts";

const US_PER_SECOND = 1e6;
/** Presence events and other work of the connects are over after this time. */
const SETTLE_MS = 1000;
const ANSWERS_MS_MAX = 20_000;
const DRAIN_MS_MAX = 15_000;
/** On request. */
const HURRIED_MS_MAX = 2000;
const SHOW_MS = 500;
/** Rooms report their counters to the lobby from time to time; a busy one once a minute. */
const COUNTED_MS_MAX = 110_000;
const COUNTED_POLL_MS = 2500;
const RUN_CHARS = 4;

export class LoadRun {
  readonly #args: LoadArguments;
  readonly #target: LoadTarget;
  readonly #progress: Progress;
  readonly #interrupt: AbortSignal;
  readonly #startUs = nowUs();
  readonly #startedAt = new Date();
  readonly #stolen = new StolenTime();
  readonly #series = new Series(() => this.#second);
  readonly #run = this.#startUs.toString(36).replace(".", "").slice(-RUN_CHARS).padStart(RUN_CHARS, "0");
  #phase: () => void = () => undefined;

  /** @param interrupt when aborted, the run ends early and reports its results so far */
  constructor(args: LoadArguments, target: LoadTarget, progress: Progress, interrupt: AbortSignal) {
    const { shimShare = args.shimShare } = target;
    this.#args = { ...args, shimShare, pollingShare: Math.min(args.pollingShare, 1 - shimShare) };
    this.#target = target;
    this.#progress = progress;
    this.#interrupt = interrupt;
  }

  /** Of the run, with its fraction. */
  get #second(): number {
    return (nowUs() - this.#startUs) / US_PER_SECOND;
  }

  async run(): Promise<LoadReport> {
    const target = this.#target;
    const crews = await withTokens(seatAll(this.#args, target.isLoopback, machineFacts()), target.tokenFor);
    const watch = this.#watchServer();
    const before = await this.#scrape();
    const pool = new WorkerPool(crews.length, this.#series);
    const showing = setInterval(() => this.#phase(), SHOW_MS);
    try {
      return await this.#phases(pool, crews, before, watch);
    } finally {
      clearInterval(showing);
      watch?.stop();
      this.#stolen.stop();
      pool.end();
      this.#progress.end();
    }
  }

  #watchServer(): ServerWatch | undefined {
    const { pid } = this.#target;
    if (pid === undefined) return undefined;
    const warning = serverFilesWarning(pid, this.#args.users);
    if (warning !== undefined) this.#progress.note(warning);
    return new ServerWatch(pid);
  }

  async #scrape(): Promise<string | undefined> {
    if (!this.#target.isParley || !this.#args.asksCounts) return undefined;
    return scrape(this.#target.where.origin, this.#args.metricsToken ?? process.env["METRICS_TOKEN"]);
  }

  async #phases(
    pool: WorkerPool,
    crews: readonly ClientSlot[][],
    before: string | undefined,
    watch: ServerWatch | undefined,
  ): Promise<LoadReport> {
    const { users, durationSeconds, pace } = this.#args;
    this.#phase = () => this.#progress.connecting(this.#series.connected, users);
    await this.#orInterrupt(pool.connect(this.#plans(crews)));
    const connectedAt = this.#second;
    await this.#pause(SETTLE_MS);
    const placed = await this.#placed();

    const postingFrom = this.#second;
    this.#phase = () => this.#progress.posting(this.#second - postingFrom, durationSeconds, this.#series);
    if (!this.#interrupt.aborted) pool.order({ kind: "post", pace });
    await this.#pause(durationSeconds * 1000);
    const postingTo = this.#second;

    this.#phase = () => this.#progress.waiting("what is under way");
    const isHurried = this.#interrupt.aborted;
    const spans = await pool.stop(isHurried ? HURRIED_MS_MAX : ANSWERS_MS_MAX);
    const reports = await pool.finish(isHurried ? HURRIED_MS_MAX : DRAIN_MS_MAX, spans);
    const indexes = mergeBooks(reports);
    // Reads the counters before the history check connects, which would be counted, too.
    const server = await this.#count(before, reports);
    // The members leave first: a full room would refuse the connection of the history check.
    pool.end();
    const history = await this.#lookUp(crews, spans, indexes);
    if (this.#args.deletesRooms) await this.#deleteRooms();
    return summarize({
      args: this.#args,
      server: this.#args.peer ?? this.#target.where.origin,
      startedAt: this.#startedAt,
      isInterrupted: this.#interrupt.aborted,
      machine: machineOf(),
      processes: crews.length,
      phases: { connectedAt, postingFrom, postingTo, finishedAt: this.#second },
      series: this.#series,
      reports,
      indexes,
      ...(placed && { placed }),
      ...(history && { history }),
      ...(watch && { process: { pid: this.#target.pid!, samples: watch.samples } }),
      ...(this.#stolen.samples.length > 0 && { stolen: this.#stolen.samples }),
      ...(server && { counted: server }),
    });
  }

  #plans(crews: readonly ClientSlot[][]): Plan[] {
    const { payloadBytes, connectsPerSecond, users } = this.#args;
    return crews.map((seats) => ({
      where: this.#target.where,
      run: this.#run,
      payloadBytes,
      seats,
      connectsPerSecond: (connectsPerSecond * seats.length) / users,
      startUs: this.#startUs,
    }));
  }

  /** Skips all waits on request, except for bugs and dead processes. */
  async #orInterrupt(work: Promise<unknown>): Promise<void> {
    const interrupted = new Promise<void>((resolve) => {
      if (this.#interrupt.aborted) resolve();
      this.#interrupt.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([work, interrupted]);
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#interrupt }).catch(() => undefined);
  }

  async #lookUp(
    crews: readonly ClientSlot[][],
    spans: Readonly<Record<string, Span>>,
    indexes: ReadonlyMap<string, RoomIndex>,
  ): Promise<HistoryVerdict | undefined> {
    if (!this.#target.isParley || this.#interrupt.aborted) return undefined;
    this.#phase = () => this.#progress.waiting("the rooms' histories");
    const reader = (slot: ClientSlot): ClientSlot => ({ ...slot, dialect: "stock", transport: "websocket" });
    const seats = Map.groupBy(crews.flat().map(reader), ({ room }) => room);
    const rooms = Object.entries(spans).map(([room, span]) => ({
      seats: seats.get(room)!,
      span,
      index: indexes.get(room) ?? new RoomIndex(),
    }));
    return checkHistories(this.#target.where, this.#run, rooms);
  }

  /** Where the members of a big room are. */
  async #placed(): Promise<LoadReport["placed"]> {
    const { isParley, where, tokenFor } = this.#target;
    const { isBig, roomPrefix, tokens } = this.#args;
    // A file of tokens has none for a service.
    if (!isBig || !isParley || tokens.kind === "file" || this.#interrupt.aborted) return undefined;
    return placesIn(where.origin, `${roomPrefix}-0`, await tokenFor(`${roomPrefix}-service`, "service"));
  }

  /** The server's counters, once they include all acked posts. */
  async #count(before: string | undefined, reports: readonly FinalReport[]): Promise<Told["counted"]> {
    if (before === undefined) return undefined;
    const acks = reports.reduce((sum, { counts }) => sum + counts.acks, 0);
    const untilUs = nowUs() + COUNTED_MS_MAX * 1000;
    this.#phase = () => this.#progress.waiting("the server's own counts");
    for (;;) {
      const after = await this.#scrape();
      if (after === undefined) return undefined;
      const counted = countedBetween(before, after);
      const isAll = counted.posts === undefined || counted.posts >= acks;
      if (isAll || this.#interrupt.aborted || nowUs() > untilUs) return { events: counted, askedAt: this.#second };
      await this.#pause(COUNTED_POLL_MS);
    }
  }

  async #deleteRooms(): Promise<void> {
    if (!this.#target.isParley) return;
    const token = await this.#target.tokenFor(`${this.#args.roomPrefix}-service`, "service");
    for (let number = 0; number < this.#args.rooms; number++) {
      const url = `${this.#target.where.origin}/api/rooms/${this.#args.roomPrefix}-${number}`;
      const { ok, status } = await fetch(url, { method: "DELETE", headers: { Authorization: `Bearer ${token}` } });
      if (!ok) return this.#progress.note(`Rooms could not be deleted: ${status}`);
    }
  }
}

export function mergeBooks(reports: readonly FinalReport[]): Map<string, RoomIndex> {
  const indexes = new Map<string, RoomIndex>();
  for (const report of reports) {
    for (const [room, page] of Object.entries(report.indexes)) {
      const index = indexes.get(room) ?? new RoomIndex();
      index.merge(page);
      indexes.set(room, index);
    }
  }
  return indexes;
}

function machineOf(): LoadReport["machine"] {
  const cpus = os.cpus();
  return {
    cpu: cpus[0]?.model ?? "unknown",
    cores: cpus.length,
    node: process.versions.node,
    platform: `${os.type()} ${os.release()}`,
  };
}
