// Reads facts about running processes from Linux's /proc: their CPU time and memory, and who belongs to them. Called by the measuring scripts and
// by process-group.ts.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

// Linux reports CPU time to user space in this unit on every architecture Node runs on.
export const CLOCK_TICKS_PER_SECOND = 100;

/** Fields of /proc/PID/stat, counted from the process's state. */
const PARENT_FIELD = 1;
const GROUP_FIELD = 2;
const USER_TIME_FIELD = 11;
const SYSTEM_TIME_FIELD = 12;
/** The state of one that has ended, and of which its parent has not heard. */
const ZOMBIE = "Z";

/** @throws Error on a system without /proc */
export function requireProc(command: string): void {
  if (process.platform !== "linux") throw new Error(`${command} reads /proc, so it runs on Linux only`);
}

/** User and system time of all threads of one process, in seconds. */
export function cpuSeconds(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[USER_TIME_FIELD]) + Number(fields[SYSTEM_TIME_FIELD])) / CLOCK_TICKS_PER_SECOND;
}

function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The command name may hold spaces: count fields from its closing parenthesis.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** A process and everything it started, itself first. */
export function processTree(root: number): number[] {
  const childrenOf = Map.groupBy(processes(), ({ fields }) => Number(fields[PARENT_FIELD]));
  const tree = [root];
  for (const pid of tree) tree.push(...(childrenOf.get(pid) ?? []).map((child) => child.pid));
  return tree;
}

/** The living processes of a group. */
export function processesOfGroup(group: number): number[] {
  return processes()
    .filter(({ fields }) => Number(fields[GROUP_FIELD]) === group && fields[0] !== ZOMBIE)
    .map(({ pid }) => pid);
}

function processes(): Array<{ readonly pid: number; readonly fields: readonly string[] }> {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).flatMap((pid) => {
    try {
      return [{ pid, fields: statOf(pid) }];
    } catch {
      // It ended while we looked.
      return [];
    }
  });
}

/** The command prefix that keeps a process on one core, or nothing where that is not possible. */
export function pinTo(core: number): string[] {
  const pin = ["taskset", "-c", String(core)];
  try {
    execFileSync(pin[0]!, [...pin.slice(1), "true"], { stdio: "ignore" });
    return pin;
  } catch {
    return [];
  }
}

/** How many files a process of this user may have open, if it asks for all of them. */
export function openFilesMax(): number {
  const limit = execFileSync("sh", ["-c", "ulimit -Hn"], { encoding: "utf8" }).trim();
  return limit === "unlimited" ? Infinity : Number(limit);
}
