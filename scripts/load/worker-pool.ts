// Starts the processes of a load test, sends them their work, collects their reports and ends them. run.ts calls it.
import { spawn, type ChildProcess } from "node:child_process";
import path from "node:path";

import type { FinalReport, Order, Plan, SecondReport, Span, Told } from "./messages.ts";

const WORKER = path.join(import.meta.dirname, "worker.ts");
/** With as many open files as the system lets this user have. */
const WITH_ALL_FILES = ["-c", 'ulimit -n "$(ulimit -Hn)" && exec "$@"', "sh"];

type ToldOf<Kind extends Told["kind"]> = Extract<Told, { kind: Kind }>;

export interface CrewListener {
  /** Of one process. */
  ticked(worker: number, connected: number, seconds: readonly SecondReport[]): void;
}

class Worker {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<Told["kind"], (told: Told) => void>();
  #fail: ((error: Error) => void) | undefined;
  /** Rejects when the process ends before its time. */
  readonly ended: Promise<never>;
  #isOver = false;

  constructor(number: number, listener: CrewListener) {
    // A process group of its own: Ctrl-C signals only the main process, which then asks the workers for their results so far.
    this.#child = spawn("sh", [...WITH_ALL_FILES, process.execPath, WORKER], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      detached: true,
    });
    this.ended = new Promise((_, reject) => (this.#fail = reject));
    this.ended.catch(() => undefined);
    this.#child.on("message", (told: Told) => {
      if (told.kind === "tick") listener.ticked(number, told.connected, told.seconds);
      else this.#waiting.get(told.kind)?.(told);
    });
    this.#child.once("exit", (code, signal) => {
      if (!this.#isOver) this.#fail?.(new Error(`A process of the load test ended early (${code ?? signal}).`));
    });
  }

  order(order: Order): void {
    this.#child.send(order);
  }

  hears<Kind extends Told["kind"]>(kind: Kind): Promise<ToldOf<Kind>> {
    const told = new Promise<ToldOf<Kind>>((resolve) => this.#waiting.set(kind, resolve as (told: Told) => void));
    return Promise.race([told, this.ended]);
  }

  end(): void {
    this.#isOver = true;
    if (this.#child.connected) this.#child.disconnect();
    this.#child.kill("SIGKILL");
  }
}

export class WorkerPool {
  readonly #workers: readonly Worker[];

  constructor(processes: number, listener: CrewListener) {
    this.#workers = Array.from({ length: processes }, (_, number) => new Worker(number, listener));
    process.once("exit", () => this.end());
  }

  /** Resolves when all users are in, or have given up. */
  async connect(plans: readonly Plan[]): Promise<void> {
    await this.#all("connected", (worker) => ({ kind: "connect", plan: plans[worker]! }));
  }

  order(order: Order): void {
    for (const worker of this.#workers) worker.order(order);
  }

  /** @returns where each room's messages of this run begin and end */
  async stop(waitMs: number): Promise<Record<string, Span>> {
    const told = await this.#all("stopped", () => ({ kind: "stop", waitMs }));
    return mergeSpans(told.map(({ spans }) => spans));
  }

  async finish(waitMs: number, spans: Readonly<Record<string, Span>>): Promise<FinalReport[]> {
    const told = await this.#all("finished", () => ({ kind: "finish", waitMs, spans }));
    return told.map(({ report }) => report);
  }

  #all<Kind extends Told["kind"]>(kind: Kind, order: (worker: number) => Order): Promise<Array<ToldOf<Kind>>> {
    const told = this.#workers.map((worker) => worker.hears(kind));
    for (const [number, worker] of this.#workers.entries()) worker.order(order(number));
    return Promise.all(told);
  }

  end(): void {
    for (const worker of this.#workers) worker.end();
  }
}

export function mergeSpans(all: ReadonlyArray<Readonly<Record<string, Span>>>): Record<string, Span> {
  const merged: Record<string, Span> = {};
  for (const spans of all) {
    for (const [room, { baseSeq, lastSeq }] of Object.entries(spans)) {
      const known = merged[room];
      merged[room] = known
        ? { baseSeq: Math.min(known.baseSeq, baseSeq), lastSeq: Math.max(known.lastSeq, lastSeq) }
        : { baseSeq, lastSeq };
    }
  }
  return merged;
}
