// The entry `parley-rooms/testing`: tests import it, in Node and in workerd. Parts that only one of them has are loaded when they are used.

// In workerd: objects that sleep, die and wake.
export { TestClock } from "./clock.ts";
export { alarmOf, crash, evict, ring } from "./objects.ts";

// In both: a client that shows each frame and packet.
export { openRawClient, RawClient, type RawClientOptions, type UpgradeOptions } from "../wire/raw-client.ts";
export { PacketType, WireClient, type Call, type Closing, type Frame, type Packet } from "../wire/wire-client.ts";

// In Node: simulations.
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
export type { AnyPlan, Outcome, Violation } from "./simulator/scenario.ts";
export type { SimulationThread } from "./simulator/threads.ts";
