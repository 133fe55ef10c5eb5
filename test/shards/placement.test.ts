// SHD-1: which object gets a connection: the room while it has space, then one of its shards, without asking the room for each of them.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { SPACE_HEADER } from "../../src/rpc/shard.ts";
import { decodeUpgradeFacts, encodeUpgradeFacts, INNER_ORIGIN, UPGRADE_HEADER } from "../../src/rpc/upgrade-header.ts";
import { choose, Placement } from "../../src/worker/connect/placement.ts";

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

const requestFor = (sid: string | undefined, query: Readonly<Record<string, string>>): Request =>
  new Request(`${INNER_ORIGIN}/websocket`, {
    headers: {
      [UPGRADE_HEADER]: encodeUpgradeFacts({ address: "", query, ...(sid === undefined && { region: "" }) }),
    },
  });

/** A room and shards that answer with their names; `full` ones refuse. @param places the answers of the room, the last one again and again */
function deployment(places: Array<string | undefined>, full: readonly string[] = [], broken: readonly string[] = []) {
  const asked: string[] = [];
  const answer = (name: string) => async (request: Request) => {
    const facts = decodeUpgradeFacts(request.headers.get(UPGRADE_HEADER)!);
    const isRoom = name === "plaza";
    if (broken.includes(name)) throw new Error("broken");
    asked.push(isRoom && facts.full?.length ? `${name} without ${facts.full.join()}` : name);
    const header = isRoom ? (places.length > 1 ? places.shift() : places[0]) : full.includes(name) ? "" : undefined;
    const isTaken = facts.region === undefined || facts.query["watch"] !== undefined;
    if (header === undefined || (isRoom && isTaken)) return new Response(name);
    return new Response(null, { status: 503, headers: { [SPACE_HEADER]: header } });
  };
  const objects = { getByName: (name: string) => ({ fetch: answer(name) }) } as never;
  const placement = new Placement({ CHAT_ROOM: objects, ROOM_SHARD: objects });
  const place = async (sid?: string, query = {}): Promise<string> =>
    (await placement.objectOf("plaza", sid).fetch(requestFor(sid, query))).text();
  return { place, asked };
}

it("a room with space gets the connection itself", async () => {
  const { place, asked } = deployment([undefined]);
  expect([await place(), await place()]).toEqual(["plaza", "plaza"]);
  expect(asked).toHaveLength(2);
});

it("a full room names its shards once, for all connections of the next seconds", async () => {
  const { place, asked } = deployment([":10"]);
  expect([await place(), await place(), await place()]).toEqual(["plaza/0", "plaza/0", "plaza/0"]);
  expect(asked).toEqual(["plaza", "plaza/0", "plaza/0", "plaza/0"]);
});

it("an operator who watches comes to the room itself, also once its shards are known", async () => {
  const { place } = deployment([":10"]);
  expect(await place()).toBe("plaza/0");
  expect(await place(undefined, { watch: "1" })).toBe("plaza");
});

it("a session is found where it is", async () => {
  const { place, asked } = deployment([":10"]);
  expect([await place("7~abc"), await place("abc")]).toEqual(["plaza/7", "plaza"]);
  expect(asked).toEqual(["plaza/7", "plaza"]);
});

it("a shard that is full meanwhile passes the connection on, and the room hears of it", async () => {
  const { place, asked } = deployment([":10,:10", ":0,:0,:10"], ["plaza/0", "plaza/1"]);
  expect(await place()).toBe("plaza/2");
  expect(asked.slice(1, 3).sort()).toEqual(["plaza/0", "plaza/1"]);
  expect(asked[3]).toMatch(/^plaza without (0,1|1,0)$/);
});

it("the room refuses where no shard has space", async () => {
  const { place, asked } = deployment([":10"], ["plaza/0"]);
  expect(await place()).toBe("plaza");
  expect(asked).toContain("plaza without 0");
});

it("a shard that fails passes the connection on to another one", async () => {
  const { place } = deployment([":10,:10"], [], ["plaza/0"]);
  const places = await Promise.all(Array.from({ length: 20 }, () => place()));
  expect(new Set(places)).toEqual(new Set(["plaza/1"]));
});

it("asks 32 of many full shards, and is then refused by the room", async () => {
  const names = Array.from({ length: 200 }, (_, shard) => `plaza/${shard}`);
  const { place, asked } = deployment([names.map(() => ":1").join()], names);
  expect(await place()).toBe("plaza");
  expect(asked.filter((name) => names.includes(name))).toHaveLength(32);
  expect(asked.length).toBeLessThan(50);
});

it("prefers shards in the client's part of the world, the emptier ones more often", () => {
  const places = [
    { shard: 0, region: "weur", free: 1 },
    { shard: 1, region: "weur", free: 9 },
    { shard: 2, region: "enam", free: 10 },
  ];
  const chosen = (region: string, chance: number): number | undefined => choose(places, region, chance)?.shard;
  expect([chosen("weur", 0), chosen("weur", 0.2), chosen("weur", 0.99), chosen("enam", 0)]).toEqual([0, 1, 1, 2]);
  expect(chosen("apac", 0.9)).toBe(2);
  expect(choose([{ shard: 0, region: "", free: 0 }], "", 0)).toBeUndefined();
});
