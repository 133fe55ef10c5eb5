// The choice of a shard for a connection.
import { describe, expect, it } from "vitest";

import { choose } from "../../../src/worker/connect/placement.ts";

const PLACES = [
  { shard: 0, region: "weur", free: 1 },
  { shard: 1, region: "weur", free: 3 },
  { shard: 2, region: "enam", free: 10 },
  { shard: 3, region: "weur", free: 0 },
];
const shardFor = (region: string, chance: number): number | undefined => choose(PLACES, region, chance)?.shard;

describe("a connection", () => {
  it("goes to a shard in its part of the world, to emptier ones more often", () => {
    expect([0, 0.24, 0.26, 0.99].map((chance) => shardFor("weur", chance))).toEqual([0, 0, 1, 1]);
  });

  it("goes elsewhere where there is none, or the Worker does not know the part of the world", () => {
    expect([0, 0.1, 0.5, 0.99].map((chance) => shardFor("oc", chance))).toEqual([0, 1, 2, 2]);
  });

  it("goes to no full one", () => {
    expect(choose([{ shard: 0, region: "", free: 0 }], "", 0.5)).toBeUndefined();
    expect(choose([], "", 0)).toBeUndefined();
  });
});
