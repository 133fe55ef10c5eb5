// Shrunk plans that once broke a rule, through a mistake of the product or of a check. Called by simulator.test.ts and planted-bugs.test.ts, in
// whose threads they run.
import { readFileSync } from "node:fs";
import path from "node:path";

import type { Plan, PlannedClient } from "./plan.ts";

/** What a stored plan has where it says nothing else. */
const USUAL: Omit<Plan, "seed"> = {
  durability: "strict",
  relay: "queue",
  rooms: ["a"],
  links: [],
  sleepAfterMs: 2000,
  commitMs: [0, 0],
  flushWindowMs: 50,
  messageRate: 1000,
  recoveryWindowSeconds: 120,
  durationMs: 20_000,
  clients: [],
  steps: [],
  faults: [],
};

const USUAL_CLIENT: Omit<PlannedClient, "name" | "user" | "joinsAtMs"> = {
  room: "a",
  kind: "websocket",
  recovers: true,
  insists: "not",
  latencyMs: [0, 0],
};

type StoredClient = Partial<PlannedClient> & Pick<PlannedClient, "name" | "joinsAtMs">;
type StoredPlan = Omit<Partial<Plan>, "clients"> & {
  readonly seed: number;
  readonly clients?: readonly StoredClient[];
};

const wholeClient = (stored: StoredClient): PlannedClient => ({
  ...USUAL_CLIENT,
  user: stored.name.replace(/\d+$/, ""),
  ...stored,
});

const wholePlan = (stored: StoredPlan): Plan => ({
  ...USUAL,
  ...stored,
  clients: stored.clients?.map(wholeClient) ?? [],
});

const STORED = JSON.parse(readFileSync(path.join(import.meta.dirname, "once-broken.json"), "utf8")) as Readonly<
  Record<string, StoredPlan>
>;

/** By what happens in them. */
export const ONCE_BROKEN: Readonly<Record<string, Plan>> = Object.fromEntries(
  Object.entries(STORED).map(([name, stored]) => [name, wholePlan(stored)]),
);
