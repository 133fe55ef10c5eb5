// The simulation of the chat: the module that runs in a thread of the kit. Opened by chat.ts.
import type { Scenario } from "../kit/simulation.ts";
import { drawPlan } from "./draw-plan.ts";
import type { Plan } from "./plan.ts";
import { Run } from "./run.ts";

const inWords = ({ atMs, ...what }: { readonly atMs: number }): string =>
  `${String(atMs).padStart(7)} ms  ${JSON.stringify(what)}`;

const scenario: Scenario<Plan> = {
  draw: drawPlan,
  run: (plan) => {
    Object.assign(globalThis, { plantedBug: plan.plantedBug });
    return new Run(plan).go();
  },
  lists: ["faults", "clients", "steps", "links"],
  describe: ({ clients, links, steps, faults }) => [
    ...clients.map((client) => JSON.stringify(client)),
    ...links.map(([from, to]) => `${from} is linked to ${to}`),
    ...[...steps, ...faults].toSorted((a, b) => a.atMs - b.atMs).map(inWords),
  ],
};

export default scenario;
