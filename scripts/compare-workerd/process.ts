// What Linux tells about a running process: compare-workerd and its generator read the server's cost here.
import { readdirSync, readFileSync } from "node:fs";

// Linux reports CPU time to user space in this unit on every architecture Node runs on.
const CLOCK_TICKS_PER_SECOND = 100;

/** User and system time of all threads. workerd starts no child processes, so one pid is the whole server. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The command name may hold spaces: count fields from its closing parenthesis. 11 and 12 are utime and stime.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
}

export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
