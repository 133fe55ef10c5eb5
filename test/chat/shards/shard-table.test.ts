// Growth and shrinkage of a room's shards, and the places that the Worker gets.
import { describe, expect, it } from "vitest";

import { REFUSED_MS, ShardTable } from "../../../src/chat/shards/shard-table.ts";
import { MemoryState } from "../../host/memory-state.ts";

const LIMITS = { maxMembers: 100, maxShards: 3 };
const table = (state = new MemoryState()): ShardTable => new ShardTable(state, LIMITS);
const note = (to: ShardTable, shard: number, sockets: number): void => to.note({ shard, sockets, users: sockets });

describe("places", () => {
  it("begin with a shard in the part of the world that asks", () => {
    expect(table().growFor("weur", 0)).toBe("weur:10");
  });

  it("say how much is free, in tenths of which one that has begun is taken", () => {
    const shards = table();
    shards.growFor("weur", 0);
    note(shards, 0, 1);
    expect(shards.growFor("weur", 0)).toBe("weur:9");
    note(shards, 0, 70);
    expect(shards.growFor("weur", 0)).toBe("weur:3");
  });

  it("grow by a shard when little is free in that part of the world", () => {
    const shards = table();
    shards.growFor("weur", 0);
    note(shards, 0, 76);
    expect(shards.growFor("weur", 0)).toBe("weur:2,weur:10");
    expect(shards.growFor("enam", 0)).toBe("weur:2,weur:10,enam:10");
  });

  it("end where all are full, and say so themselves, and there may be no other", () => {
    const shards = table();
    for (let shard = 0; shard < 3; shard++) {
      expect(shards.growFor("", 0)).toContain(":10");
      note(shards, shard, 100);
    }
    // By their reports: each of them may have died since.
    expect(shards.growFor("", 0)).toBe(":1,:1,:1");
    shards.refused([0, 2], 0);
    expect(shards.growFor("", 0)).toBe(":0,:1,:0");
    shards.refused([1], 0);
    expect(shards.growFor("", REFUSED_MS - 1)).toBeUndefined();
    expect(shards.growFor("", REFUSED_MS)).toBe(":1,:1,:1");
    note(shards, 1, 99);
    expect(shards.growFor("", REFUSED_MS)).toBe(":0,:1,:0");
  });

  it("have a further shard, if one that reported no connection has filled since then", () => {
    const shards = table();
    shards.growFor("", 0);
    // Its connections have not joined.
    note(shards, 0, 0);
    shards.refused([0], 0);
    expect(shards.growFor("", 0)).toBe(":0,:10");
  });

  it("of shards that the room has not heard of since it woke are free: they may have died", () => {
    const state = new MemoryState();
    const before = table(state);
    before.growFor("weur", 0);
    note(before, 0, 100);
    const after = table(state);
    expect(after.unheard).toEqual([0]);
    expect(after.growFor("weur", 0)).toBe("weur:10");
    note(after, 0, 100);
    expect(after.growFor("weur", 0)).toBe("weur:0,weur:10");
  });
});

describe("rows", () => {
  it("are written when a shard comes, goes, or fills another tenth, and not with each connection", () => {
    const state = new MemoryState();
    const shards = table(state);
    shards.growFor("weur", 0);
    const written: number[] = [];
    for (let sockets = 1; sockets <= 30; sockets++) {
      note(shards, 0, sockets);
      written.push((state.get("shards") as Array<{ sockets: number }>)[0]!.sockets);
    }
    expect([...new Set(written)]).toEqual([1, 11, 21]);
  });

  it("of empty shards at the end go", () => {
    const state = new MemoryState();
    const shards = table(state);
    shards.growFor("", 0);
    note(shards, 0, 90);
    shards.growFor("", 0);
    note(shards, 1, 5);
    note(shards, 0, 0);
    expect(shards.rows).toHaveLength(2);
    note(shards, 1, 0);
    expect(shards.rows).toEqual([]);
    expect(state.get("shards")).toBeUndefined();
  });

  it("that were removed count among those that the end of the room closes: a connection may have arrived there", () => {
    const state = new MemoryState();
    const shards = table(state);
    for (let shard = 0; shard < 2; shard++) {
      shards.growFor("", 0);
      note(shards, shard, 100);
    }
    note(shards, 1, 0);
    expect([shards.rows.length, shards.everCount]).toEqual([1, 2]);
    // If that one does not answer, the next log asks it again.
    shards.storeOnly([1]);
    expect(table(state).unheard).toEqual([0, 1]);
  });

  it("come back in their part of the world", () => {
    const shards = table();
    shards.growFor("weur", 0);
    note(shards, 0, 0);
    expect(shards.rows).toEqual([]);
    note(shards, 0, 3);
    expect(shards.growFor("weur", 0)).toBe("weur:9");
  });

  it("come back with the report of a shard that the room had removed", () => {
    const shards = table();
    note(shards, 2, 3);
    expect(shards.rows.map(({ sockets }) => sockets)).toEqual([0, 0, 3]);
    expect([shards.sockets, shards.users]).toEqual([3, 3]);
  });
});
