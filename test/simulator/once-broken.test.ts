// Shrunk plans that once broke a rule, through a mistake of the product or of a check.
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { openChat } from "./chat.ts";
import type { SimulationThread } from "../kit/testing.ts";
import { PLANTED_BUGS } from "./planted-bugs.ts";
import type { Plan } from "./plan.ts";

const PLANS = JSON.parse(readFileSync(path.join(import.meta.dirname, "once-broken.json"), "utf8")) as Readonly<
  Record<string, Plan>
>;

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
