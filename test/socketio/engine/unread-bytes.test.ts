// Backpressure: samples the bytes that a room holds for slow clients, as in `parley_room_unread_bytes`.
import { expect, it } from "vitest";

import { Meter } from "../../../src/metrics/meter.ts";
import type { Transport } from "../../../src/socketio/engine/engine.ts";
import { Namespace } from "../../../src/socketio/server/namespace.ts";
import type { Session } from "../../../src/socketio/engine/session.ts";
import { FLOW_CONTROL_PING_BYTES, STALLED_MS } from "../../../src/socketio/engine/backpressure.ts";
import { bareServer } from "../../host/bare-server.ts";
import { START_MS } from "../../host/harness.ts";

type Given = (text: string) => void;

class Giver extends Namespace<Record<string, never>, { given: Given }, object> {
  readonly handlers = {};
  override authorize = () => ({ accepted: true as const, data: {} });
}

/** A room whose clients get as many bytes as a test asks for, and read when the test has them read. */
function room() {
  const meter = new Meter();
  const giver = new Giver();
  let nowMs = START_MS;
  const server = bareServer({
    options: { transports: ["websocket", "polling"] },
    table: { static: { "/": giver } },
    now: () => nowMs,
    meter,
  });
  const enter = (transport: Transport): Session => {
    const session = server.open({ address: "192.0.2.1", query: {}, issued: START_MS }, transport);
    if (transport === "websocket") void server.receive(session, "40");
    else server.endPost(session, "40");
    return session;
  };
  const give = (bytes: number): void => server.effects.turn(() => void giver.emit("given", "x".repeat(bytes)));
  const samples = () => {
    const counted = meter.take();
    const count = Object.entries(counted).filter(([series]) => /^unread:\d/.test(series));
    return { count: count.reduce((sum, [, times]) => sum + times, 0), bytes: counted["unread:sum"] ?? 0 };
  };
  return { enter, give, samples, advance: (ms: number) => void (nowMs += ms), server };
}

it("counts bytes that a WebSocket left unproven for long, but none of a client that reads", () => {
  const { enter, give, samples, advance, server } = room();
  const session = enter("websocket");
  give(FLOW_CONTROL_PING_BYTES + 1);
  advance(STALLED_MS);
  give(1);
  expect(samples()).toEqual({ count: 0, bytes: 0 });
  advance(1000);
  give(1000);
  const { count, bytes } = samples();
  expect(count).toBe(1);
  expect(bytes).toBeGreaterThan(FLOW_CONTROL_PING_BYTES + 1000);
  expect(bytes).toBeLessThan(FLOW_CONTROL_PING_BYTES + 2000);
  void server.receive(session, "3");
  for (let i = 0; i < 5; i++) {
    advance(1000);
    give(10);
  }
  expect(samples()).toEqual({ count: 0, bytes: 0 });
});

it("counts bytes that long-polling has not fetched, once a second at most", () => {
  const { enter, give, samples, advance, server } = room();
  const sessions = [enter("polling"), enter("polling")];
  for (const session of sessions) server.poll(session);
  samples();
  advance(1000);
  for (let i = 0; i < 10; i++) give(1000);
  expect(samples()).toMatchObject({ count: 1 });
  advance(1000);
  give(1000);
  const { count, bytes } = samples();
  expect(count).toBe(1);
  expect(bytes).toBeGreaterThan(2 * 11 * 1000);
  for (const session of sessions) server.poll(session);
  samples();
  advance(1000);
  for (const session of sessions) server.poll(session);
  expect(samples()).toEqual({ count: 0, bytes: 0 });
});
