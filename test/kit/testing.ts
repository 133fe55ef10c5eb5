// The entry `parley-rooms/testing`: simulations of one's own objects. Tests import it, in Node and in workerd.
export {
  assertHolds,
  openSimulation,
  simulate,
  type OpenOptions,
  type PlantedBug,
  type SimulateOptions,
  type SimulationFailure,
  type SimulationResult,
} from "./simulate.ts";
export { Chance } from "./simulator/chance.ts";
export type { SimulationThread } from "./simulator/threads.ts";
export type { AnyPlan, Outcome, Violation } from "./simulator/scenario.ts";
