// Values that a room keeps on its members' connections.
import { expect, it } from "vitest";

import { Carried } from "../../../src/chat/room/carried.ts";
import type { Client, Membership } from "../../../src/chat/room/room.ts";
import { Slot } from "../../../src/chat/room/room-part.ts";

interface Item {
  readonly key: string;
  readonly value: number;
}

const SLOT = new Slot<readonly Item[]>("items");

function connection(id: string): Client {
  const data: Membership = { user: id, name: id, role: "member", sinceMs: 0 };
  return { id, data, peek: () => data } as unknown as Client;
}

function roomWith(...ids: string[]): { clients: Map<string, Client>; carried: () => Carried<Item> } {
  const clients = new Map(ids.map((id) => [id, connection(id)]));
  const carried = (): Carried<Item> => new Carried({ clients }, { slot: SLOT, keyOf: ({ key }) => key, perHolder: 2 });
  return { clients, carried };
}

/** Keys by the connection that holds them. */
const heldIn = (clients: ReadonlyMap<string, Client>): Record<string, string[]> =>
  Object.fromEntries(
    [...clients].map(([id, client]) => [id, (SLOT.get(client) ?? []).map(({ key, value }) => `${key}${value}`)]),
  );

it("holds an item on one connection, and a newer one with its key in its place", () => {
  const { clients, carried } = roomWith("ada", "ben");
  const all = carried();
  for (const value of [1, 2]) expect(all.put("x", { key: "x", value })).toBe(true);
  expect(heldIn(clients)).toEqual({ ada: ["x2"], ben: [] });
});

it("fills one connection, then the next, and refuses an item that none has room for", () => {
  const { clients, carried } = roomWith("ada", "ben");
  const all = carried();
  const stored = ["a", "b", "c", "d", "e"].map((key) => all.put(key, { key, value: 1 }));
  expect(stored).toEqual([true, true, true, true, false]);
  expect(heldIn(clients)).toEqual({ ada: ["a1", "b1"], ben: ["c1", "d1"] });
  expect(all.size).toBe(4);
});

it("moves the items of a closed connection to others, and returns those that none has room for", () => {
  const { clients, carried } = roomWith("ada", "ben");
  const all = carried();
  for (const key of ["a", "b", "c"]) all.put(key, { key, value: 1 });
  const ada = clients.get("ada")!;
  clients.delete("ada");
  expect(all.release(ada)).toEqual([{ key: "b", value: 1 }]);
  expect(heldIn(clients)).toEqual({ ben: ["c1", "a1"] });
  expect([...all.items()].map(({ key }) => key)).toEqual(["c", "a"]);
});

it("puts an item on another connection where its holder is gone", () => {
  const { clients, carried } = roomWith("ada", "ben");
  const all = carried();
  all.put("x", { key: "x", value: 1 });
  const ada = clients.get("ada")!;
  clients.delete("ada");
  all.put("x", { key: "x", value: 2 });
  expect(all.release(ada)).toEqual([]);
  expect(heldIn(clients)).toEqual({ ben: ["x2"] });
});

it("is restored from the connections after sleep, and leaves no empty slot behind", () => {
  const { clients, carried } = roomWith("ada", "ben");
  for (const key of ["a", "b", "c"]) carried().put(key, { key, value: 1 });
  const woken = carried();
  expect([...clients.values()].flatMap((client) => woken.restore(client)).map(({ key }) => key)).toEqual([
    "a",
    "b",
    "c",
  ]);
  for (const key of ["a", "b", "c"]) woken.delete(key);
  expect([...clients.values()].every((client) => !("items" in client.peek()))).toBe(true);
  expect(woken.size).toBe(0);
});
