// SessionFlood: counts CONNECTs and packets without meaning per session (SIO-11, LIM-4).
import { afterEach, expect, it, vi } from "vitest";

import { TRANSPORT_CLOSE } from "../../../src/socketio/wire/closings.ts";
import { COUNT_WINDOW_MS, SessionFlood } from "../../../src/socketio/engine/session-flood.ts";
import { Session } from "../../../src/socketio/engine/session.ts";
import { bareServer } from "../../host/bare-server.ts";
import { START_MS } from "../../host/harness.ts";

afterEach(() => vi.restoreAllMocks());

const handshake = { address: "192.0.2.1", query: {}, issued: START_MS };
const session = (sid: string): Session => new Session(sid, handshake, START_MS);

it("counts each session by itself, in a window for all sessions", () => {
  const [flood, ada, ben] = [new SessionFlood(2), session("a"), session("b")];
  expect([flood.isOver(ada, START_MS), flood.isOver(ada, START_MS)]).toEqual([false, false]);
  const laterMs = START_MS + COUNT_WINDOW_MS - 1;
  expect([flood.isOver(ben, laterMs), flood.isOver(ada, laterMs)]).toEqual([false, true]);
  expect([flood.isOver(ada, laterMs + 1), flood.isOver(ben, laterMs + 1)]).toEqual([false, false]);
});

it.each([
  ["back", -1],
  ["forward", 1],
])("begins a window when the clock is set %s", (_where, direction) => {
  const [flood, ada] = [new SessionFlood(1), session("a")];
  flood.isOver(ada, START_MS);
  expect(flood.isOver(ada, START_MS)).toBe(true);
  expect(flood.isOver(ada, START_MS + direction * 3_600_000)).toBe(false);
});

it("forgets sessions that are gone, and probes that took over", () => {
  const kept = new Set<Session>();
  vi.spyOn(SessionFlood.prototype, "isOver").mockImplementation((counted) => kept.add(counted) && false);
  vi.spyOn(SessionFlood.prototype, "forget").mockImplementation((gone) => void kept.delete(gone));
  const server = bareServer();
  const polled = server.open(handshake, "polling");
  const probe = server.openProbe(polled)!;
  for (const frame of ["2probe", "5"]) void server.receive(probe, frame);
  for (const frame of ["6", "40"]) void server.receive(polled, frame);
  expect([...kept]).toEqual([polled]);
  server.lost(polled, TRANSPORT_CLOSE);
  expect([...kept]).toEqual([]);
});

it("forgets a session that the server dismisses", () => {
  const kept = new Map<SessionFlood, Set<Session>>();
  vi.spyOn(SessionFlood.prototype, "isOver").mockImplementation(function (this: SessionFlood, counted) {
    kept.set(this, (kept.get(this) ?? new Set()).add(counted));
    return false;
  });
  vi.spyOn(SessionFlood.prototype, "forget").mockImplementation(function (this: SessionFlood, gone) {
    kept.get(this)?.delete(gone);
  });
  const server = bareServer();
  const session = server.open(handshake, "websocket");
  for (const frame of ["6", "40"]) void server.receive(session, frame);
  expect(Array.from(kept.values(), ({ size }) => size)).toEqual([1, 1]);
  server.dismissSession(session);
  expect(Array.from(kept.values(), ({ size }) => size)).toEqual([0, 0]);
});
