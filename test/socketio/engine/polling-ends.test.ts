// The ends of polling sessions as their clients see them: answers to posts and polls, also in the middle of an upgrade. EIO-8, EIO-9.
import { describe, expect, it } from "vitest";

import { IDLE_PACKETS_MAX } from "../../../src/socketio/engine/session-flood.ts";
import type { Session } from "../../../src/socketio/engine/session.ts";
import { CLOSINGS } from "../../../src/socketio/wire/closings.ts";
import { bareServer } from "../../host/bare-server.ts";
import { OPTIONS, START_MS } from "../../host/harness.ts";
import { Probe, type ProbeParts } from "../../host/probe.ts";

const SEPARATOR = "\x1e";

/** A polling session that has fetched its handshake, in an application whose handler `end` ends it. */
function visit(parts: ProbeParts = {}) {
  let nowMs = START_MS;
  /** What the session's polls and its WebSocket bring, in order. */
  const polled: string[][] = [];
  const pushed: string[] = [];
  const app = new Probe(
    {
      ...parts,
      handlers: {
        end: (socket) => (socket.emit("last"), socket.disconnect(true)),
        endWithAck: (socket, ack) => (ack("done"), socket.disconnect(true)),
        ...parts.handlers,
      },
    },
    [],
  );
  const server = bareServer({
    options: { transports: ["polling", "websocket"] },
    table: { static: { "/": app } },
    now: () => nowMs,
    apply(effects) {
      for (const effect of effects) {
        if (effect.type === "answer-poll") polled.push(effect.payload.split(SEPARATOR));
        if (effect.type === "send") pushed.push(...(effect.frames as string[]));
        if (effect.type === "close") pushed.push(`closed: ${effect.closing.reason}`);
      }
    },
  });
  const session: Session = server.open({ address: "192.0.2.1", query: {}, issued: START_MS }, "polling", {
    isJavaScript: true,
  });
  server.poll(session);
  polled.length = 0;
  return {
    server,
    session,
    app,
    polled,
    pushed,
    advance: (ms: number) => ((nowMs += ms), server.tick()),
    /** As the shell does it. @returns whether the post was accepted */
    post: (...packets: string[]): boolean =>
      server.sessions.has(session.sid)
        ? server.beginPost(session) && server.endPost(session, packets.join(SEPARATOR))
        : server.hasFinalPayload(session.sid),
    /** As the shell does it. */
    poll: (): void => {
      if (server.sessions.has(session.sid)) return void server.poll(session);
      polled.push(server.takeFinalPayload(session.sid)?.split(SEPARATOR) ?? ["unknown session"]);
    },
  };
}

const LAST = '42["last"]';
const ends: Array<[how: string, parts: ProbeParts, posts: string[][], last: string[]]> = [
  [
    "in onConnect",
    { onConnect: (socket) => (socket.emit("last"), socket.disconnect(true)) },
    [["40"]],
    ['40{"sid":"id-2"}', LAST, "41"],
  ],
  ["in a handler", {}, [["40", '42["end"]']], ['40{"sid":"id-2"}', LAST, "41"]],
  [
    "in a handler, before further packets",
    {},
    [["40", '42["end"]', '42["end"]', "3"]],
    ['40{"sid":"id-2"}', LAST, "41"],
  ],
  ["after an ack", {}, [["40"], ['420["endWithAck"]']], ['40{"sid":"id-2"}', '430["done"]', "41"]],
  ["for an event to a namespace that it is not in", {}, [["40"], ['42/none,["x"]']], ['40{"sid":"id-2"}']],
  [
    "for a flood of packets without meaning",
    {},
    [["40"], Array<string>(IDLE_PACKETS_MAX + 1).fill("6")],
    ['40{"sid":"id-2"}'],
  ],
];

describe.each(ends)("a server that ends a polling session %s", (_how, parts, posts, last) => {
  it("accepts the post, and the next poll brings the last packets, one more the close packet", () => {
    const { polled, post, poll } = visit(parts);
    for (const packets of posts) expect(post(...packets)).toBe(true);
    poll();
    poll();
    poll();
    expect(polled).toEqual([last, ["1"], ["unknown session"]]);
  });

  it("answers the poll that waits with the last packets, and the next one with the close packet", () => {
    const { polled, post, poll } = visit(parts);
    poll();
    for (const packets of posts) {
      expect(post(...packets)).toBe(true);
      poll();
    }
    expect(polled.flat().slice(0, last.length + 1)).toEqual([...last, "1"]);
  });

  it("accepts posts that come later, until its client has fetched the close packet", () => {
    const { post, poll } = visit(parts);
    for (const packets of posts) post(...packets);
    expect([post("1"), post('42["late"]')]).toEqual([true, true]);
    poll();
    expect(post("3")).toBe(true);
    poll();
    expect(post("3")).toBe(false);
  });

  it("accepts a post whose body was being read", () => {
    const { server, session, post } = visit(parts);
    expect(server.beginPost(session)).toBe(true);
    for (const packets of posts) post(...packets);
    expect(server.endPost(session, '42["late"]')).toBe(true);
  });
});

describe("a session that ends between two polls with nothing left to fetch", () => {
  it.each([CLOSINGS.restart, CLOSINGS.forcedByServer, CLOSINGS.connectTimeout, CLOSINGS.stateTooLarge])(
    "ends with a close packet for the next poll: $reason",
    (closing) => {
      const { server, session, polled, post, poll } = visit();
      server.close(session, closing);
      expect(post("3")).toBe(true);
      poll();
      poll();
      expect(polled).toEqual([["1"], ["unknown session"]]);
    },
  );

  it("is unknown at once if its client is dead, or its request broke the protocol", () => {
    for (const closing of [CLOSINGS.pingTimeout, CLOSINGS.parseError, CLOSINGS.pollOverlap]) {
      const { server, session, polled, poll } = visit();
      server.close(session, closing);
      poll();
      expect(polled).toEqual([["unknown session"]]);
    }
  });

  it.each(["x", "2", "4x", "42{}", `4x${SEPARATOR}3`])("by a post that cannot be read: %j is refused", (body) => {
    expect(visit().post(body)).toBe(false);
  });
});

describe("in the middle of an upgrade, after the server has answered the probe", () => {
  function upgrading() {
    const client = visit();
    client.post("40");
    client.poll();
    client.poll();
    const probe = client.server.openProbe(client.session)!;
    void client.server.receive(probe, "2probe");
    // The client has not got the noop yet, with which it goes on.
    expect(client.pushed).toEqual(["3probe"]);
    expect(client.polled.pop()).toEqual(["6"]);
    client.polled.length = 0;
    return { ...client, send: (frame: string) => void client.server.receive(probe, frame) };
  }

  it("a poll that comes while packets wait brings them at once, and one without waits", () => {
    const { app, polled, poll } = upgrading();
    app.emit("now");
    poll();
    expect(polled).toEqual([['42["now"]']]);
    poll();
    expect(polled).toHaveLength(1);
    app.emit("later");
    expect(polled[1]).toEqual(['42["later"]']);
  });

  it("an end comes over the WebSocket after the client has switched, and not before", () => {
    const { server, session, pushed, send } = upgrading();
    server.close(session, CLOSINGS.restart);
    expect(pushed).toEqual(["3probe"]);
    send("5");
    expect(pushed).toEqual(["3probe", "closed: service restart"]);
  });

  it("the last packets come once: over the WebSocket, or by a poll that was on its way", () => {
    for (const isPolled of [false, true]) {
      const { app, server, session, polled, pushed, poll, send } = upgrading();
      server.effects.turn(() => {
        app.emit("last");
        server.dismissSession(server.sessions.get(session.sid)!);
      });
      if (isPolled) poll();
      send("5");
      expect([...polled.flat(), ...pushed]).toEqual([
        ...(isPolled ? [LAST, "41", "3probe"] : ["3probe", LAST, "41"]),
        "closed: forced server close",
      ]);
    }
  });

  it("a client that takes longer than the time for an upgrade to end its post still switches", () => {
    const { app, server, session, pushed, advance, send } = upgrading();
    server.beginPost(session);
    advance(30_000);
    app.emit("meanwhile");
    server.endPost(session, "3");
    send("5");
    expect(pushed).toEqual(["3probe", '42["meanwhile"]']);
    expect(server.sessions.get(session.sid)).toBe(session);
  });

  it("a client that still polls after the time for an upgrade stays with long-polling", () => {
    const { app, polled, pushed, poll, advance } = upgrading();
    advance(10_000);
    expect(pushed).toEqual(["3probe"]);
    poll();
    expect(pushed).toEqual(["3probe", "closed: connect timeout"]);
    advance(50);
    expect(polled).toEqual([]);
    app.emit("now");
    expect(polled).toEqual([['42["now"]']]);
  });

  it("the WebSocket of a client that is silent from then on closes with its session", () => {
    const { server, session, pushed, advance } = upgrading();
    advance(OPTIONS.pingIntervalMs + OPTIONS.pingTimeoutMs);
    expect(server.sessions.has(session.sid)).toBe(false);
    expect(pushed.at(-1)).toBe("closed: ping timeout");
    expect(server.deadlines.next()).toBeUndefined();
  });

  it("a client whose session ends after the time for an upgrade has as much time again to switch, and then gets its last packets", () => {
    const { app, server, session, pushed, advance, send } = upgrading();
    advance(20_000);
    app.emit("last");
    server.close(session, CLOSINGS.restart);
    advance(9999);
    expect(pushed).toEqual(["3probe"]);
    send("5");
    expect(pushed).toEqual(["3probe", LAST, "closed: service restart"]);
    expect(server.deadlines.next()).toBeUndefined();
  });

  it("a client whose session ends after the time for an upgrade, and that does not switch then, is closed", () => {
    const { server, session, pushed, advance } = upgrading();
    advance(20_000);
    server.close(session, CLOSINGS.restart);
    advance(10_000);
    expect(pushed.at(-1)).toBe("closed: connect timeout");
    expect(server.deadlines.next()).toBeUndefined();
  });

  it("a client that went no further is closed in the end", () => {
    const { server, session, pushed, advance } = upgrading();
    server.close(session, CLOSINGS.restart);
    advance(10_000);
    expect(pushed.at(-1)).toBe("closed: connect timeout");
    expect(server.deadlines.next()).toBeUndefined();
  });
});

describe("an upgraded session", () => {
  it("leaves no deadline of polling or of the upgrade: its object may sleep until the next ping", () => {
    const { server, session, post, poll, advance } = visit();
    post("40");
    poll();
    advance(100);
    const probe = server.openProbe(session)!;
    void server.receive(probe, "2probe");
    void server.receive(probe, "5");
    expect(server.deadlines.next()).toBe(START_MS + OPTIONS.pingIntervalMs);
  });

  it("leaves those of sessions that still poll", () => {
    const { server, session, poll } = visit();
    const other = server.open(session.handshake, "polling");
    for (const polling of [session, other]) server.endPost((server.beginPost(polling), polling), "40");
    server.poll(other);
    server.poll(other);
    poll();
    const probe = server.openProbe(session)!;
    void server.receive(probe, "2probe");
    void server.receive(probe, "5");
    expect(server.deadlines.next()).toBe(START_MS + 20_000);
  });
});
