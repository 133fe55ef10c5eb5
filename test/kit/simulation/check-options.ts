// Checks the options of a simulation: a name that is misspelled would be an invariant that holds always, or a fault that never happens. Called by
// ../simulation.ts.
import type { ClientKind, DeclaredFault, SimulationOptions } from "./options.ts";

const OPTIONS: Readonly<Record<keyof SimulationOptions, true>> = {
  rooms: true,
  clients: true,
  memory: true,
  invariants: true,
  atRest: true,
  faults: true,
  durationMs: true,
  worker: true,
  objects: true,
  env: true,
  queues: true,
  internet: true,
  tolerated: true,
  comesToRest: true,
};

const OF_CLIENTS: Readonly<Record<keyof ClientKind<unknown>, true>> = {
  people: true,
  open: true,
  listen: true,
  steps: true,
  stepsPerMinute: true,
  transports: true,
};

const FAULTS: Readonly<Record<DeclaredFault, true>> = {
  crash: true,
  sleep: true,
  restore: true,
  cut: true,
  storm: true,
  offline: true,
  slow: true,
  loss: true,
  reload: true,
  clock: true,
  "client-clock": true,
  "late-alarms": true,
  "late-timers": true,
  "storage-fails": true,
  "storage-slow": true,
  "calls-fail": true,
  "queue-chaos": true,
};

/** @throws Error that names what is wrong */
export function checkSimulationOptions(options: SimulationOptions<never>): void {
  checkNames("simulation", "option", options, OPTIONS);
  if (Object.keys(options.clients ?? {}).length === 0)
    throw new Error("simulation: clients: name some, with their steps");
  for (const [name, kind] of Object.entries(options.clients)) {
    checkNames(`simulation: clients.${name}`, "option", kind, OF_CLIENTS);
    if (typeof kind.steps !== "object") throw new Error(`simulation: clients.${name}.steps: must be functions by name`);
  }
  checkNames("simulation: faults", "fault", options.faults ?? {}, FAULTS);
  for (const [name, perMinute] of Object.entries(options.faults ?? {}))
    if (!(perMinute >= 0)) throw new Error(`simulation: faults.${name}: must be a number a minute, not ${perMinute}`);
  for (const part of ["invariants", "atRest"] as const)
    for (const [name, check] of Object.entries(options[part] ?? {}))
      if (typeof check !== "function") throw new Error(`simulation: ${part}["${name}"]: must be a function`);
}

function checkNames(where: string, what: string, given: object, known: object): void {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(known, name))
      throw new Error(`${where}: there is no ${what} "${name}"; there are ${Object.keys(known).join(", ")}`);
}
