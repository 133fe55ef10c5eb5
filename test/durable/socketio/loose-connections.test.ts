// The count of TCP connections that the server does not cut (LIM-6).
import { expect, it } from "vitest";

import { LooseConnections } from "../../../durable/socketio/loose-connections.ts";

it("a network has so many, of IPv6 the first 48 bits, and a place is free when a connection is gone", () => {
  const loose = new LooseConnections();
  const adds = (id: string, address: string): boolean => loose.add(id, address, 2);
  expect([adds("a", "192.0.2.1"), adds("b", "192.0.2.1"), adds("c", "192.0.2.1")]).toEqual([true, true, false]);
  expect(adds("d", "192.0.2.2")).toBe(true);
  expect([adds("e", "2001:db8:1:1::1"), adds("f", "2001:db8:1:2::1")]).toEqual([true, true]);
  expect(adds("g", "2001:db8:1:3::1")).toBe(false);
  // The one that was not counted is gone, too, and one twice.
  for (const id of ["c", "a", "a"]) loose.remove(id);
  expect([adds("h", "192.0.2.1"), adds("i", "192.0.2.1")]).toEqual([true, false]);
});

it("with a limit of 0 all are counted", () => {
  const loose = new LooseConnections();
  for (let i = 0; i < 100; i++) expect(loose.add(String(i), "192.0.2.1", 0)).toBe(true);
});
