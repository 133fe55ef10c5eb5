// The server's CPU time and memory while it is under load, over its whole process tree, second by second.
import { performance } from "node:perf_hooks";

import { cpuSeconds, processTree, residentBytes } from "../process.ts";

const SAMPLE_MS = 1000;

export interface ServerSample {
  readonly second: number;
  /** Cores in use, on average since the sample before. */
  readonly cores: number;
  readonly residentBytes: number;
}

export class ServerWatch {
  readonly samples: ServerSample[] = [];
  readonly #root: number;
  readonly #startedMs = performance.now();
  readonly #timer: NodeJS.Timeout;
  #last: { readonly atMs: number; readonly cpuOf: ReadonlyMap<number, number> };

  /** @throws Error where there is no such process */
  constructor(pid: number) {
    this.#root = pid;
    this.#last = this.#read();
    if (this.#last.cpuOf.size === 0) throw new Error(`There is no process ${pid} to watch.`);
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #read(): { atMs: number; cpuOf: Map<number, number>; bytes: number } {
    const cpuOf = new Map<number, number>();
    let bytes = 0;
    for (const pid of processTree(this.#root)) {
      try {
        cpuOf.set(pid, cpuSeconds(pid));
        bytes += residentBytes(pid) || 0;
      } catch {
        // It ended while we looked.
      }
    }
    return { atMs: performance.now(), cpuOf, bytes };
  }

  #sample(): void {
    const { atMs, cpuOf, bytes } = this.#read();
    let seconds = 0;
    // Those that came since count from their start, those that went no longer.
    for (const [pid, cpu] of cpuOf) seconds += cpu - (this.#last.cpuOf.get(pid) ?? 0);
    const cores = seconds / ((atMs - this.#last.atMs) / 1000);
    this.samples.push({ second: Math.round((atMs - this.#startedMs) / 1000), cores, residentBytes: bytes });
    this.#last = { atMs, cpuOf };
  }
}
