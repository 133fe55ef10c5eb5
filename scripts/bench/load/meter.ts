// The cost of an interval, on both sides: the server's CPU time over its whole process tree, and the generator's own.
import { performance } from "node:perf_hooks";

import { cpuSeconds, processTree, residentBytes, sumOver } from "../../process.ts";
import type { BaseReading } from "./job.ts";

const US_PER_SECOND = 1e6;
const MS_PER_SECOND = 1000;

export interface Cost extends Omit<BaseReading, "failures"> {}

export class Meter {
  readonly #pids: readonly number[];
  #startedMs = 0;
  #serverCpuSeconds = 0;
  #own: NodeJS.CpuUsage = process.cpuUsage();

  /** @param roots the server's processes, whose children have all started */
  constructor(roots: readonly number[]) {
    this.#pids = roots.flatMap(processTree);
    this.start();
  }

  start(): void {
    this.#startedMs = performance.now();
    this.#serverCpuSeconds = this.#readCpu();
    this.#own = process.cpuUsage();
  }

  read(): Cost {
    const { user, system } = process.cpuUsage(this.#own);
    const wallSeconds = (performance.now() - this.#startedMs) / MS_PER_SECOND;
    return {
      generatorBusy: (user + system) / US_PER_SECOND / wallSeconds,
      serverCpuSeconds: this.#readCpu() - this.#serverCpuSeconds,
      wallSeconds,
    };
  }

  residentBytes(): number {
    return sumOver(this.#pids, residentBytes);
  }

  #readCpu(): number {
    return sumOver(this.#pids, cpuSeconds);
  }
}
