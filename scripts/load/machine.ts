// Describes the machine of a load test, for its report.
import { existsSync, readFileSync } from "node:fs";

import { openFilesMax } from "../process.ts";
import type { MachineFacts } from "./client-slots.ts";

const PORT_RANGE_FILE = "/proc/sys/net/ipv4/ip_local_port_range";
/** The range that IANA reserves for it, and the ranges of other systems. */
const PORTS_USUAL = 16_384;

export function machineFacts(): MachineFacts {
  return { openFilesMax: openFilesMax(), portsPerAddress: portRange(), hasLoopbackRange: process.platform === "linux" };
}

function portRange(): number {
  if (!existsSync(PORT_RANGE_FILE)) return PORTS_USUAL;
  const [from, to] = readFileSync(PORT_RANGE_FILE, "utf8").trim().split(/\s+/).map(Number);
  return to! - from! + 1;
}

/** A warning where the server may not open as many files as there will be connections; `undefined` where all is well. */
export function serverFilesWarning(pid: number, users: number): string | undefined {
  const limits = existsSync(`/proc/${pid}/limits`) ? readFileSync(`/proc/${pid}/limits`, "utf8") : "";
  const limit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  return limit >= users ? undefined : `The server may open ${limit} files, fewer than ${users} connections take.`;
}
