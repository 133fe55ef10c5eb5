// Runs the whole product in virtual time while everything goes wrong, for a handful of seeds. `npm run simulate` runs more.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { openChat } from "./chat.ts";
import { drawPlan } from "./draw-plan.ts";
import type { Plan } from "./plan.ts";
import type { SimulationThread } from "../kit/testing.ts";
import { INVARIANTS } from "./invariants.ts";
import { ONCE_BROKEN } from "./once-broken.ts";
import { IS_LONG } from "../host/properties.ts";

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

/** Together their plans have all that `traitsOf` names, and most of them are short. */
const CHOSEN = [133, 52, 51, 59, 253, 49, 156, 297, 91, 163, 143, 9];
/** Seeds of each run of the tests. */
const SEEDS = new Set([...CHOSEN, ...(IS_LONG ? upTo(50) : [])]);
/** One of the shortest plans: to live it again costs little. */
const LIVED_AGAIN = 51;
/** So many plans are drawn, and not run, to know what a plan may have. */
const DRAWN = 300;

/** What a run of the plan tries: settings, kinds of clients, steps, faults. */
function traitsOf({ durability, relay, rooms, links, rules, shards, clients, steps, faults, ...plan }: Plan): string[] {
  const isLinked = links.length > 0;
  return [
    durability,
    `${rooms.length} rooms`,
    `a sleep after ${plan.sleepAfterMs} ms`,
    `commits of ${plan.commitMs.join(" to ")} ms`,
    `flushes of ${plan.flushWindowMs} ms`,
    `messageRate ${plan.messageRate}`,
    `recovery for ${plan.recoveryWindowSeconds} s`,
    `for ${plan.durationMs} ms`,
    `rules: ${rules?.onFailure ?? "none"}`,
    `features: ${plan.hasFeatures ?? false}`,
    ...(shards ? [`${shards.maxShards} shards`, `fanOut ${shards.fanOut}`] : []),
    ...(isLinked ? [`links by ${relay}`, `links, ${durability}`] : []),
    ...clients.map(({ kind, insists }) => `${kind}, insists: ${insists}`),
    ...clients.map(({ kind, recovers }) => `${kind}, recovers: ${recovers}`),
    ...clients.map(({ kind, bundles }) => `${kind}, bundles: ${bundles ?? false}`),
    ...steps.map((step) => ["step", step.do, "event" in step ? step.event : ""].join(" ")),
    ...faults.map((fault) => ["fault", fault.fault, "how" in fault ? fault.how : ""].join(" ")),
  ];
}

const traitsOfSeeds = (seeds: readonly number[]): string[] =>
  [...new Set(seeds.flatMap((seed) => traitsOf(drawPlan(seed))))].toSorted();

describe("a simulated deployment", () => {
  let simulation: SimulationThread<Plan>;

  beforeAll(async () => {
    simulation = await openChat();
  });
  afterAll(() => simulation.stop());

  it(`keeps every promise through ${SEEDS.size} seeds, and lives the same life again with the same seed`, async () => {
    for (const seed of SEEDS) {
      const once = await simulation.run(drawPlan(seed));
      expect(once.outcome.violations, `seed ${seed}`).toEqual([]);
      if (seed !== LIVED_AGAIN) continue;
      expect(await simulation.run(drawPlan(seed))).toEqual(once);
      expect(once.outcome.counts["events"]).toBeGreaterThan(100);
    }
  });

  it.each(Object.keys(ONCE_BROKEN))("breaks no rule where it once did: %s", async (name) => {
    expect((await simulation.run(ONCE_BROKEN[name]!)).outcome.violations).toEqual([]);
  });

  it("EIO-10: keeps clients that read, however much they are given", async () => {
    const client = { room: "a", joinsAtMs: 0, recovers: true, insists: "again", latencyMs: [40, 50] } as const;
    const plan: Plan = {
      ...drawPlan(1, "short"),
      durationMs: 60_000,
      // A sleeping room forgets how much its clients have not read yet.
      sleepAfterMs: 10_000,
      rooms: ["a"],
      links: [],
      messageRate: 1000,
      clients: (["shim", "websocket"] as const).map((kind) => ({ ...client, kind, name: kind, user: kind })),
      // More than STALE_BYTES_MAX, from the first flow-control ping on for longer than STALE_MS.
      steps: Array.from({ length: 8 }, (_, at) => {
        return { atMs: 5000 + at * 4000, do: "post", room: "a", times: 160, length: 1000 };
      }),
      faults: [],
    };
    const { violations, counts } = (await simulation.run(plan)).outcome;
    expect(violations).toEqual([]);
    expect(counts).toMatchObject({ stored: 1280, sights: 2560, connections: 2 });
  });

  it("keeps all connections of a big room in which nothing fails, however often its objects sleep", async () => {
    const client = { room: "a", recovers: true, insists: "again", latencyMs: [5, 40] } as const;
    const clients = Array.from({ length: 8 }, (_, at) => {
      const kind = at % 3 === 0 ? ("shim" as const) : ("websocket" as const);
      return { ...client, kind, name: `client${at}`, user: `user${at}`, joinsAtMs: at * 300 };
    });
    const { rules: _, hasFeatures: __, ...drawn } = drawPlan(1, "short");
    const plan: Plan = {
      ...drawn,
      durationMs: 60_000,
      durability: "strict",
      sleepAfterMs: 1,
      rooms: ["a"],
      links: [],
      messageRate: 1000,
      recoveryWindowSeconds: 120,
      shards: { maxMembers: 2, maxShards: 3, fanOut: 1 },
      clients,
      steps: Array.from({ length: 40 }, (_step, at) => {
        return { atMs: 5000 + at * 1300, do: "say", who: clients[at % 8]!.name, times: 1 };
      }),
      faults: [],
    };
    const { violations, counts } = (await simulation.run(plan)).outcome;
    expect(violations).toEqual([]);
    expect(counts).toMatchObject({ stored: 40, acks: 40, sights: 320, connections: 8 });
  });
});

it("the chosen seeds have whatever a plan may have: settings, clients, steps, faults", () => {
  expect(traitsOfSeeds(CHOSEN)).toEqual(traitsOfSeeds(upTo(DRAWN)));
});

it("docs/reliability.md explains every rule in the same words", async () => {
  const docs = await readFile(path.join(import.meta.dirname, "../../docs/reliability.md"), "utf8");
  const rows = docs.replaceAll(/ +/g, " ");
  for (const [rule, meaning] of Object.entries(INVARIANTS)) expect(rows).toContain(`\n| ${rule} | ${meaning} |`);
});
