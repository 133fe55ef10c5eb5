// The cost of an interval: CPU time and memory of the server over its whole process tree, this process's own, and CPU time that the host of a
// virtual machine gave to others. Called by run.ts.
import { existsSync, readFileSync } from "node:fs";

import { CLOCK_TICKS_PER_SECOND, cpuSeconds, processTree, residentBytes } from "../process.ts";

const STAT_FILE = "/proc/stat";
const STEAL_FIELD = 7;

export interface Snapshot {
  readonly atMs: number;
  readonly cpuOf: ReadonlyMap<number, number>;
  readonly residentBytes: number;
  readonly own: NodeJS.CpuUsage;
  readonly stolenSeconds: number;
}

export interface Cost {
  readonly seconds: number;
  readonly serverCpuSeconds: number;
  /** Share of one core, 0 to 1. */
  readonly generatorBusy: number;
  /** On average, of all cores of the machine. */
  readonly stolenCores: number;
}

/** @param roots the server's processes; their children are found each time */
export function snapshot(roots: readonly number[]): Snapshot {
  const cpuOf = new Map<number, number>();
  let bytes = 0;
  for (const pid of roots.flatMap(processTree)) {
    try {
      cpuOf.set(pid, cpuSeconds(pid));
      bytes += residentBytes(pid) || 0;
    } catch {
      // It ended while we looked.
    }
  }
  const stolen = existsSync(STAT_FILE) ? stolenSecondsIn(readFileSync(STAT_FILE, "utf8")) : 0;
  return { atMs: performance.now(), cpuOf, residentBytes: bytes, own: process.cpuUsage(), stolenSeconds: stolen };
}

export function costBetween(before: Snapshot, after: Snapshot): Cost {
  const seconds = (after.atMs - before.atMs) / 1000;
  let serverCpuSeconds = 0;
  // Processes that came since count from their start, those that went no longer.
  for (const [pid, cpu] of after.cpuOf) serverCpuSeconds += cpu - (before.cpuOf.get(pid) ?? 0);
  const own = after.own.user + after.own.system - before.own.user - before.own.system;
  return {
    seconds,
    serverCpuSeconds,
    generatorBusy: own / 1e6 / seconds,
    stolenCores: (after.stolenSeconds - before.stolenSeconds) / seconds,
  };
}

/** @param stat the contents of /proc/stat. Source: https://man7.org/linux/man-pages/man5/proc_stat.5.html (`steal`) */
export function stolenSecondsIn(stat: string): number {
  const [, ...ticks] = stat.slice(0, stat.indexOf("\n")).split(/\s+/);
  return Number(ticks[STEAL_FIELD] ?? 0) / CLOCK_TICKS_PER_SECOND;
}
