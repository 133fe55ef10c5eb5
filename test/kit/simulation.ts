// The entry `parley-rooms/testing/simulation`: for modules that run in a simulation. First the functions that declare
// one, then the parts to build another kind of scenario with.
import { connect } from "simulation:connect";

import { checkSimulationOptions } from "./simulation/check-options.ts";
import type { EventsOf, SimulationOptions } from "./simulation/options.ts";
import { drawPlan, type SimulationPlan } from "./simulation/plan.ts";
import { SimulationRun, type Target } from "./simulation/run.ts";
import { planInWords } from "./simulation/words.ts";
import type { DeploymentOptions } from "./simulator/deployment.ts";
import type { ObjectClass } from "./simulator/object-host.ts";
import type { Scenario } from "./simulator/scenario.ts";

export type {
  AnyEvents,
  Checked,
  CheckedObject,
  ClientEvents,
  ClientKind,
  ClientOptions,
  DeclaredFault,
  EventsOf,
  Invariant,
  InvariantAtRest,
  Person,
  SimulationOptions,
  Step,
  Transport,
} from "./simulation/options.ts";
export { FAULTS, type SimulationPlan } from "./simulation/plan.ts";

/** The binding of a class that the options name nowhere. */
const DEFAULT_BINDING = "OBJECT";

/**
 * Declares a simulation: to be the default export of a module that `simulate` gets.
 * @param object the class of the objects that people connect to, built on SocketIoObject or EngineObject
 */
export function simulation<Made extends object, Memory = undefined>(
  object: ObjectClass<Made>,
  declared: SimulationOptions<Memory, EventsOf<Made>>,
): Scenario<SimulationPlan> {
  checkSimulationOptions(declared as unknown as SimulationOptions<never>);
  // The names of events matter to the compiler alone.
  const options = declared as unknown as SimulationOptions<Memory>;
  const target = targetOf(object, options);
  return {
    draw: (seed) => drawPlan(seed, options),
    run: (plan) => new SimulationRun(options, target, plan).go(),
    lists: ["faults", "people", "steps"],
    describe: planInWords,
  };
}

function targetOf(
  object: ObjectClass,
  { objects = { [DEFAULT_BINDING]: object }, worker }: Pick<SimulationOptions<unknown>, "objects" | "worker">,
): Target {
  const binding = Object.keys(objects).find((name) => objects[name] === object);
  if (binding === undefined)
    throw new Error(`simulation: ${object.name} is not among the objects ${Object.keys(objects).join(", ")}`);
  const passOn: DeploymentOptions["worker"] = (request, env) =>
    connect(request, {
      object: (room) => (env as Record<string, Rooms>)[binding]!.getByName(room),
      allowedOrigins: "*",
    });
  return { binding, objects, worker: worker ? (...given) => worker.fetch(...given) : passOn };
}

interface Rooms {
  getByName(room: string): { fetch(request: Request): Promise<Response> };
}

export { Chance } from "./simulator/chance.ts";
export { collectionsIn } from "./simulator/collections.ts";
export { onConsoleError } from "./simulator/console.ts";
export { plugIn } from "./simulator/client-web-socket.ts";
export type { Connection, Link } from "./simulator/connection.ts";
export { Deployment, type CallFate, type DeploymentOptions } from "./simulator/deployment.ts";
export { Faults, type Fault, type FaultKind } from "./simulator/faults.ts";
export { Network } from "./simulator/network.ts";
export type { HostListener, ObjectClass, ObjectHost, ObjectInstance, Spoken } from "./simulator/object-host.ts";
export { isPlanned, textOf } from "./simulator/planned.ts";
export { enter } from "./simulator/runtime.ts";
export type { AnyPlan, Outcome, Scenario, Violation } from "./simulator/scenario.ts";
export { ServerSocket } from "./simulator/server-socket.ts";
export { Storage } from "./simulator/storage.ts";
export { isTracing, trace } from "./simulator/trace.ts";
export { START_MS, World, type Zone } from "./simulator/world.ts";
