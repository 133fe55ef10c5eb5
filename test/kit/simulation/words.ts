// Steps and faults of a plan in words, for the report of a failure. Called by ../simulation.ts.
import type { PlannedFault, SimulationPlan } from "./plan.ts";

const seconds = (ms: number): string => `${ms / 1000} s`;

function faultInWords(fault: PlannedFault): string {
  switch (fault.fault) {
    case "crash": {
      const lost = fault.keeps ? "what it has written becomes durable" : "what is not durable yet is lost";
      return `${fault.room} crashes; ${lost}${fault.isNoticed ? "" : "; its clients do not notice"}`;
    }
    case "sleep":
      return `${fault.room} is put to sleep`;
    case "restore":
      return `a backup of ${fault.room} is made, and restored ${seconds(fault.forMs)} later`;
    case "storage-fails":
      return `the storage of ${fault.room} fails for ${seconds(fault.forMs)}`;
    case "storage-slow":
      return `writes take up to ${fault.commitMs} ms to become durable, for ${seconds(fault.forMs)}`;
    case "late-alarms":
      return `alarms of ${fault.room} are ${seconds(fault.lateMs)} late, for ${seconds(fault.forMs)}`;
    case "late-timers":
      return `no timer of ${fault.room} fires for ${seconds(fault.forMs)}`;
    case "clock":
      return `the clock of ${fault.room} is ${seconds(fault.skewMs)} ahead from now on`;
    case "storm":
      return `all connections of ${fault.room} break; the object ${fault.server ? "notices" : "does not notice"}`;
    case "cut": {
      const noticed = [
        ...(fault.client ? ["the client notices"] : []),
        ...(fault.server ? ["the object notices"] : []),
      ];
      return `the connection of ${fault.who} breaks; ${noticed.join(", ") || "nobody notices"}`;
    }
    case "offline":
      return `${fault.who} is offline for ${seconds(fault.forMs)}`;
    case "slow":
      return `${fault.who} has a latency of up to ${fault.latencyMs} ms, for ${seconds(fault.forMs)}`;
    case "loss":
      return `requests of ${fault.who} get lost, for ${seconds(fault.forMs)}`;
    case "client-clock":
      return `the clock of ${fault.who} is ${seconds(fault.skewMs)} ahead from now on`;
    case "calls-fail":
      return `calls between objects fail, for ${seconds(fault.forMs)}`;
    case "queue-chaos":
      return `queues deliver late and twice, for ${seconds(fault.forMs)}`;
    case "reload":
      return `${fault.who} reloads`;
  }
}

export function planInWords({ people, steps, faults }: SimulationPlan): string[] {
  const happenings = [
    ...people.map(({ opensAtMs, name, transport, room }) => ({
      atMs: opensAtMs,
      text: `${name} connects to ${room} (${transport})`,
    })),
    ...steps.map(({ atMs, who, does }) => ({ atMs, text: `${who}: ${does}` })),
    ...faults.map((fault) => ({ atMs: fault.atMs, text: faultInWords(fault) })),
  ];
  return happenings
    .toSorted((a, b) => a.atMs - b.atMs)
    .map(({ atMs, text }) => `${String(Math.round(atMs)).padStart(7)} ms  ${text}`);
}
