// LIM-5: unjoined sessions of one network, in all rooms of an isolate together.
import { expect, it } from "vitest";

import { CLOSING_MS, CLOSINGS, TRANSPORT_CLOSE } from "../../../src/socketio/wire/closings.ts";
import type { Server } from "../../../src/socketio/server/server.ts";
import type { Handshake } from "../../../src/socketio/engine/session.ts";
import { UnjoinedQuota } from "../../../src/socketio/engine/unjoined-quota.ts";
import { bareServer } from "../../host/bare-server.ts";
import { OPTIONS, START_MS } from "../../host/harness.ts";

const ADA = { user: "ada", name: "Ada", role: "member" } as const;

const MAX = 3;
const ADDRESS = "192.0.2.1";
const JOIN_MS = OPTIONS.connectTimeoutMs;

/** Rooms of one isolate. */
function isolate() {
  const unjoined = new UnjoinedQuota();
  const clock = { nowMs: START_MS };
  let ids = 0;
  const room = (): Server => bareServer({ now: () => clock.nowMs, newId: () => `id-${ids++}`, unjoined });
  const handshake = (more: Partial<Handshake> = {}): Handshake => ({
    address: ADDRESS,
    query: {},
    issued: clock.nowMs,
    ...more,
  });
  return { clock, room, handshake };
}

it.each([
  [MAX - 1, undefined],
  [MAX, "unjoined"],
  [MAX + 1, "unjoined"],
])("with %i of a network in as many rooms, one more is %s", (count, refusal) => {
  const { room, handshake } = isolate();
  for (let i = 0; i < count; i++) room().open(handshake(), i % 2 === 0 ? "websocket" : "polling");
  const another = room();
  expect(another.refuseUnjoined(ADDRESS, MAX)).toBe(refusal);
  expect(another.refuseUnjoined("192.0.2.2", MAX)).toBeUndefined();
  expect(another.refuseUnjoined(ADDRESS, 0)).toBeUndefined();
});

it("all of a /48 count as one", () => {
  const { room, handshake } = isolate();
  for (let i = 0; i < MAX; i++) room().open(handshake({ address: `2001:db8:1:${i}::1` }), "websocket");
  expect(room().refuseUnjoined("2001:db8:1:ff::1", MAX)).toBe("unjoined");
  expect(room().refuseUnjoined("2001:db8:2::1", MAX)).toBeUndefined();
});

it("a session that joined, or came with a token, does not count", async () => {
  const { room, handshake } = isolate();
  const server = room();
  for (let i = 0; i < MAX; i++) server.open(handshake({ identity: ADA }), "websocket");
  for (let i = 0; i < MAX; i++) await server.receive(server.open(handshake(), "websocket"), "40");
  expect(server.refuseUnjoined(ADDRESS, MAX)).toBeUndefined();
});

it("a session that ends frees its place at once, one that is closed after its peer had time to answer", () => {
  const { room, handshake, clock } = isolate();
  const server = room();
  const [gone, polling, closed] = [
    server.open(handshake(), "websocket"),
    server.open(handshake(), "polling"),
    server.open(handshake(), "websocket"),
  ];
  server.close(closed, CLOSINGS.parseError);
  expect(server.refuseUnjoined(ADDRESS, MAX)).toBe("unjoined");
  server.lost(gone, TRANSPORT_CLOSE);
  expect(server.refuseUnjoined(ADDRESS, MAX)).toBeUndefined();
  expect(server.refuseUnjoined(ADDRESS, MAX - 1)).toBe("unjoined");
  server.close(polling, CLOSINGS.asked);
  expect(server.refuseUnjoined(ADDRESS, 1)).toBe("unjoined");
  clock.nowMs += CLOSING_MS - 1;
  expect(server.refuseUnjoined(ADDRESS, 1)).toBe("unjoined");
  clock.nowMs += 1;
  expect(server.refuseUnjoined(ADDRESS, 1)).toBeUndefined();
});

it("a session that ended while its object slept stops counting when its time is over", () => {
  const { room, handshake, clock } = isolate();
  for (let i = 0; i < MAX; i++) room().open(handshake(), "websocket");
  clock.nowMs += JOIN_MS + CLOSING_MS - 1;
  expect(room().refuseUnjoined(ADDRESS, MAX)).toBe("unjoined");
  clock.nowMs += 1;
  expect(room().refuseUnjoined(ADDRESS, MAX)).toBeUndefined();
});

it("forgets sessions of objects that died, also where there is no limit", () => {
  const unjoined = new UnjoinedQuota();
  const comesFull = (nowMs: number): boolean => unjoined.isFull(ADDRESS, MAX, nowMs);
  for (let sid = 0; sid < 200; sid++) unjoined.add(`died-${sid}`, ADDRESS, { nowMs: 0, joinMs: JOIN_MS });
  const laterMs = JOIN_MS + CLOSING_MS;
  expect(unjoined.isFull(ADDRESS, 0, laterMs)).toBe(false);
  // They count no more, even by an earlier clock.
  expect(comesFull(0)).toBe(false);
});
