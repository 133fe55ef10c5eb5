// Shrunk plans that once broke a rule, through a mistake of the product or of a check.
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { openChat } from "./chat.ts";
import type { SimulationThread } from "../kit/testing.ts";
import { PLANTED_BUGS } from "./planted-bugs.ts";
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
const PLANS = Object.fromEntries(Object.entries(STORED).map(([name, stored]) => [name, wholePlan(stored)]));

describe("a plan that once broke a rule breaks none", () => {
  let simulation: SimulationThread<Plan>;

  beforeAll(async () => {
    simulation = await openChat();
  });
  afterAll(() => simulation.stop());

  it.each(Object.keys(PLANS))("%s", async (name) => {
    expect((await simulation.run(PLANS[name]!)).outcome.violations).toEqual([]);
  });
});

it("a client whose first welcome was lost must still get all that it missed", async () => {
  const planted = PLANTED_BUGS.find(({ bug }) => bug === "recovery begins one message too late");
  const simulation = await openChat(planted!);
  const { violations } = (await simulation.run(PLANS["a crash comes between CONNECT and welcome"]!)).outcome;
  await simulation.stop();
  expect(violations[0]).toMatchObject({ invariant: "recovered whole" });
});
