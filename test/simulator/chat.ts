// The chat's simulation, as tests and scripts start it. Called by simulator.test.ts, planted-search.ts and scripts/simulate.ts.
import path from "node:path";

import { openSimulation, type OpenOptions, type PlantedBug, type SimulationThread } from "../kit/testing.ts";
import type { Plan } from "./plan.ts";

const HERE = import.meta.dirname;
const ROOT = path.join(HERE, "../..");

export const MODULE = path.join(HERE, "simulation.ts");

/** How the simulation is built. Private fields are open to the check of "bounded". */
export const BUILD: OpenOptions = {
  opened: new RegExp(`^${RegExp.escape(ROOT)}/(src|durable|client)/[^.]*\\.ts$`),
  aliases: { "product:objects": path.join(HERE, "product", "objects.ts") },
};

/** One thread with the chat in it, and with these bugs. */
export const openChat = (...planted: readonly PlantedBug[]): Promise<SimulationThread<Plan>> =>
  openSimulation<Plan>(MODULE, { ...BUILD, planted });
