// CPU time that this virtual machine wanted and its host gave to others, second by second. While it is taken, latencies tell of
// the neighbours. Source: https://man7.org/linux/man-pages/man5/proc_stat.5.html (`steal`)
import { existsSync, readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";

import { CLOCK_TICKS_PER_SECOND } from "../process.ts";

const SAMPLE_MS = 1000;
const STAT_FILE = "/proc/stat";
const STEAL_FIELD = 7;

export interface StolenSample {
  readonly second: number;
  /** On average since the sample before, of all that the machine has. */
  readonly cores: number;
}

export class StolenTime {
  readonly samples: StolenSample[] = [];
  readonly #startedMs = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #last: { readonly atMs: number; readonly seconds: number };

  /** Where the system does not tell, there are no samples. */
  constructor() {
    const isTold = existsSync(STAT_FILE);
    this.#last = { atMs: this.#startedMs, seconds: isTold ? stolenSeconds(readFileSync(STAT_FILE, "utf8")) : 0 };
    this.#timer = isTold ? setInterval(() => this.#sample(), SAMPLE_MS) : undefined;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const now = { atMs: performance.now(), seconds: stolenSeconds(readFileSync(STAT_FILE, "utf8")) };
    const cores = (now.seconds - this.#last.seconds) / ((now.atMs - this.#last.atMs) / 1000);
    this.samples.push({ second: Math.round((now.atMs - this.#startedMs) / 1000), cores });
    this.#last = now;
  }
}

/** @param stat the contents of /proc/stat */
export function stolenSeconds(stat: string): number {
  const [, ...ticks] = stat.slice(0, stat.indexOf("\n")).split(/\s+/);
  return Number(ticks[STEAL_FIELD] ?? 0) / CLOCK_TICKS_PER_SECOND;
}
