// Tests of the interface between the engine and the layer above: notices to the layer, and what a layer or the shell decides about a session:
// its id, the time for its upgrade, whether its object may sleep, and what of it outlasts an object that is erased.
import { describe, expect, it } from "vitest";

import type { Effect } from "../../../src/socketio/engine/effects.ts";
import type { EngineOptions } from "../../../src/socketio/engine/engine.ts";
import { SessionServer } from "../../../src/socketio/engine/session-server.ts";
import { Session } from "../../../src/socketio/engine/session.ts";
import { UPGRADE_TIMEOUT_MS } from "../../../src/socketio/engine/transport-upgrades.ts";
import { CLOSINGS, TRANSPORT_CLOSE } from "../../../src/socketio/wire/closings.ts";
import { encodeMessage } from "../../../src/socketio/wire/engine-io.ts";
import { OPTIONS, START_MS } from "../../host/harness.ts";

const { pingIntervalMs, pingTimeoutMs } = OPTIONS;
const HANDSHAKE = { address: "192.0.2.1", query: {}, issued: START_MS };

/** A server whose layer records its events. @param probes those that outlast the server */
function observed(options: Partial<EngineOptions> = {}, probes = new Set<Session>()) {
  let [nowMs, ids] = [START_MS, 0];
  const told: string[] = [];
  const requests: unknown[] = [];
  const effects: Effect[] = [];
  const server = new SessionServer(
    { ...OPTIONS, transports: ["websocket", "polling"], ...options },
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
      newSession(sid, handshake, seenAtMs, request) {
        requests.push(request);
        return new Session(sid, handshake, seenAtMs);
      },
      onMessage: (_session, data) => void told.push(`message ${String(data)}`),
      onNotice: ({ sid }, notice) => void told.push(`${sid}: ${notice}`),
      onClose: ({ sid }, { disconnect }) => void told.push(`${sid}: ${disconnect}`),
    }),
  );
  return { server, told, requests, effects, advance: (ms: number) => ((nowMs += ms), server.tick()) };
}

describe("a layer is told", () => {
  it("of each ping, and of each pong that the runtime did not absorb, in order with the messages", () => {
    const { server, told, advance } = observed();
    const session = server.open(HANDSHAKE, "websocket");
    advance(pingIntervalMs);
    void server.receive(session, "4hello");
    void server.receive(session, "3");
    advance(pingIntervalMs);
    expect(told).toEqual(["id-1: ping", "message hello", "id-1: pong", "id-1: ping"]);
  });

  it("of both steps of an upgrade, by the session that goes on", () => {
    const { server, told } = observed();
    const session = server.open(HANDSHAKE, "polling");
    server.poll(session);
    const probe = server.openProbe(session)!;
    void server.receive(probe, "2probe");
    expect(told).toEqual(["id-1: upgrading"]);
    void server.receive(probe, "5");
    expect(told).toEqual(["id-1: upgrading", "id-1: upgrade"]);
    expect(session.polling).toBeUndefined();
  });

  it("of an upgrade that breaks off after its probe was answered", () => {
    const { server, told } = observed();
    const probe = server.openProbe(server.open(HANDSHAKE, "polling"))!;
    void server.receive(probe, "2probe");
    server.lost(probe, TRANSPORT_CLOSE);
    expect(told).toEqual(["id-1: upgrading", "id-1: upgradeFailed"]);
  });

  it("of nothing when an upgrade breaks off before", () => {
    const { server, told } = observed();
    const session = server.open(HANDSHAKE, "polling");
    const probe = server.openProbe(session)!;
    void server.receive(probe, "4too soon");
    expect(told).toEqual([]);
    expect(server.sessions.get("id-1")).toBe(session);
  });
});

describe("whoever opens a session", () => {
  it("gives it an id, which its client gets", () => {
    const { server, effects } = observed();
    server.open(HANDSHAKE, "websocket", { sid: "a given id" });
    expect(server.sessions.has("a given id")).toBe(true);
    const [opened] = effects.flatMap((effect) => (effect.type === "send" ? effect.frames : []));
    expect(opened).toContain('"sid":"a given id"');
  });

  it("gives the layer what it knows of the request; a session that slept has none", () => {
    const { server, requests } = observed();
    const request = { url: "/socket.io/?EIO=4" };
    const session = server.open(HANDSHAKE, "websocket", { request });
    server.restore({ ...session.toRecord(), sid: "slept" }, () => {});
    expect(requests).toEqual([request, undefined]);
  });
});

describe("the time for an upgrade", () => {
  it.each([
    ["is that of Engine.IO", undefined, UPGRADE_TIMEOUT_MS],
    ["can be given", 300, 300],
  ])("%s", (_how, upgradeTimeoutMs, dueMs) => {
    const { server, effects, advance } = observed({ upgradeTimeoutMs });
    const session = server.open(HANDSHAKE, "polling");
    const probe = server.openProbe(session)!;
    effects.length = 0;
    advance(dueMs - 1);
    expect(effects).toEqual([]);
    advance(1);
    expect(effects).toMatchObject([{ type: "close", session: probe, closing: CLOSINGS.connectTimeout }]);
    expect(server.sessions.get("id-1")).toBe(session);
  });
});

describe("a server that lets clients leave more unread", () => {
  const MIB = 1024 * 1024;
  const [small, large] = ["x".repeat(MIB / 2), "x".repeat(12 * MIB)];

  it.each(["websocket", "polling"] as const)(
    "over %s ends a session with more than that, and none with less",
    (transport) => {
      const { server, told } = observed({ unreadBytesMax: 16 * MIB });
      const session = server.open(HANDSHAKE, transport);
      server.effects.send([session], [small]);
      server.effects.send([session], [large]);
      expect(told).toEqual([]);
      server.effects.send([session], [large]);
      expect(told).toEqual(["id-1: transport error"]);
    },
  );

  it("ends those over long-polling that left more than 1 MiB, while all left more than 32 MiB", () => {
    const { server, told, advance } = observed({ unreadBytesMax: 16 * MIB });
    const [little, ...much] = Array.from({ length: 4 }, () => server.open(HANDSHAKE, "polling"));
    server.effects.send([little!], [small]);
    for (const session of much) server.effects.send([session], [large]);
    advance(2000);
    expect(told).toEqual([]);
    server.effects.send([little!], ["more"]);
    expect(told).toEqual(["id-2: transport error", "id-3: transport error", "id-4: transport error"]);
  });
});

describe("an object whose sessions do not survive sleep", () => {
  it.each(["websocket", "polling"] as const)("stays awake while it has one over %s, and no longer", (transport) => {
    const { server } = observed({ staysAwake: true });
    expect(server.deadlines.nextAwake()).toBeUndefined();
    const sessions = [server.open(HANDSHAKE, transport), server.open(HANDSHAKE, transport)];
    expect(server.deadlines.nextAwake()).toBeLessThanOrEqual(START_MS + pingIntervalMs);
    server.lost(sessions[0]!, TRANSPORT_CLOSE);
    expect(server.deadlines.nextAwake()).toBeDefined();
    server.lost(sessions[1]!, TRANSPORT_CLOSE);
    expect(server.deadlines.nextAwake()).toBeUndefined();
  });

  it("ends one that is silent at pingInterval and pingTimeout after its last frame, however soon that came after a ping", () => {
    const { server, told, advance } = observed({ staysAwake: true });
    const session = server.open(HANDSHAKE, "websocket");
    advance(pingIntervalMs);
    advance(1000);
    void server.receive(session, "4last words");
    const lastMs = START_MS + pingIntervalMs + 1000;
    for (let atMs = lastMs; told.at(-1) !== "id-1: ping timeout";) {
      const nextMs = server.deadlines.next()!;
      expect(nextMs).toBeLessThanOrEqual(lastMs + pingIntervalMs + pingTimeoutMs);
      advance(nextMs - atMs);
      atMs = nextMs;
    }
    expect(told).toEqual(["id-1: ping", "message last words", "id-1: ping", "id-1: ping timeout"]);
  });

  it("sleeps between its pings otherwise", () => {
    const { server } = observed();
    server.open(HANDSHAKE, "websocket");
    expect(server.deadlines.next()).toBeDefined();
    expect(server.deadlines.nextAwake()).toBeUndefined();
  });
});

describe("an upgrade that outlasts the server in which it began, as where an object is erased: EIO-9", () => {
  function erased() {
    const probes = new Set<Session>();
    const { server: former } = observed({}, probes);
    const session = former.open(HANDSHAKE, "polling");
    former.poll(session);
    const probe = former.openProbe(session)!;
    void former.receive(probe, "2probe");
    former.effects.turn(() => former.effects.send([session], [encodeMessage("the last words")]));
    former.close(session, CLOSINGS.restart);
    former.stop();
    return { ...observed({}, probes), probe, probes };
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
    expect(effects).toMatchObject([{ type: "close", session: probe, closing: CLOSINGS.connectTimeout }]);
    expect(server.deadlines.next()).toBeUndefined();
  });
});
