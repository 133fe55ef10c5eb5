// Upgrades from long-polling that outlast the server in which they began: an object that is erased goes on with another one (EIO-9).
import { expect, it } from "vitest";

import type { Effect } from "../../../src/socketio/engine/effects.ts";
import { SessionServer } from "../../../src/socketio/engine/session-server.ts";
import { Session } from "../../../src/socketio/engine/session.ts";
import { UPGRADE_TIMEOUT_MS } from "../../../src/socketio/engine/transport-upgrades.ts";
import { CLOSINGS } from "../../../src/socketio/wire/closings.ts";
import { encodeMessage } from "../../../src/socketio/wire/engine-io.ts";
import { OPTIONS, START_MS } from "../../host/harness.ts";

/** An object in which a client was in the middle of an upgrade when the object was erased. */
function erased() {
  let [nowMs, ids] = [START_MS, 0];
  const probes = new Set<Session>();
  const effects: Effect[] = [];
  const begin = (): SessionServer =>
    new SessionServer(
      { ...OPTIONS, transports: ["websocket", "polling"] },
      {
        now: () => nowMs,
        newId: () => `id-${++ids}`,
        phase: 0,
        probes,
        apply: (applied) => void effects.push(...applied),
        lastPongAtMs: () => undefined,
        report(problem, error) {
          throw new Error(problem, { cause: error });
        },
      },
      () => ({
        newSession: (sid, handshake, seenAtMs) => new Session(sid, handshake, seenAtMs),
        onMessage: () => {},
        onClose: () => {},
      }),
    );
  const former = begin();
  const session = former.open({ address: "192.0.2.1", query: {}, issued: START_MS }, "polling");
  former.poll(session);
  const probe = former.openProbe(session)!;
  void former.receive(probe, "2probe");
  former.effects.turn(() => former.effects.send([session], [encodeMessage("the last words")]));
  former.close(session, CLOSINGS.restart);
  former.stop();
  const server = begin();
  effects.length = 0;
  return { server, probe, probes, effects, advance: (ms: number) => void (nowMs += ms) };
}

it("a client that goes on gets its last messages, and nothing of it is left", () => {
  const { server, probe, probes, effects } = erased();
  void server.receive(probe, "5");
  expect(effects).toMatchObject([
    { type: "send", sessions: [probe], frames: ["4the last words"] },
    { type: "close", session: probe, closing: CLOSINGS.restart },
  ]);
  expect(probes.size).toBe(0);
});

it("a client that goes no further is closed once the time for an upgrade is over", () => {
  const { server, probe, effects, advance } = erased();
  server.tick();
  expect(server.deadlines.next()).toBe(START_MS + UPGRADE_TIMEOUT_MS);
  advance(UPGRADE_TIMEOUT_MS);
  server.tick();
  expect(effects).toMatchObject([{ type: "close", session: probe, closing: CLOSINGS.connectTimeout }]);
  expect(server.deadlines.next()).toBeUndefined();
});
