// LIM-1 to LIM-4: limits on connections per address, on their rate, and on floods.
import { afterEach, describe, expect, it, vi } from "vitest";

import { REQUEST_LIMIT } from "../../../src/protocol/limits.ts";
import { FLOOD_PAUSE_MS, FLOOD_REFUSALS_MAX, FLOOD_WINDOW_MS } from "../../../src/chat/moderation/access.ts";
import { NETWORKS_PER_SITE, networkOf } from "../../../src/socketio/wire/client-address.ts";
import { CLOSINGS, TRANSPORT_CLOSE } from "../../../src/socketio/wire/closings.ts";
import { Addresses, SESSIONS_MAX } from "../../../src/socketio/engine/addresses.ts";
import { COUNT_WINDOW_MS, IDLE_PACKETS_MAX, SessionFlood } from "../../../src/socketio/engine/session-flood.ts";
import { Session } from "../../../src/socketio/engine/session.ts";
import { FLOW_CONTROL_PING_BYTES } from "../../../src/socketio/engine/backpressure.ts";
import { ConnectRate, NETWORKS_MAX } from "../../../src/worker/connect/connect-rate.ts";
import { KNOWN_SESSIONS_MAX, KnownSessions } from "../../../src/worker/connect/known-sessions.ts";
import { bareServer } from "../../host/bare-server.ts";
import { ChatRoom, identityOf } from "../../host/chat-room.ts";
import { START_MS, type Client } from "../../host/harness.ts";
import { probeShell } from "../../host/probe.ts";

const sessionFrom = (address: string): Session =>
  new Session("sid", { address, query: {}, issued: START_MS }, START_MS);

describe("LIM-1: addresses that count as one", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["unknown", "unknown"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::FFFF", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:192.0.2.1", "192.0.2.1"],
    ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
    ["::ffff:c000:201", "192.0.2.1"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["[2001:db8::1]", "2001:db8:0:0::/64"],
    [" 192.0.2.1 ", "192.0.2.1"],
    // Some proxies name the port, too: each connection has another one.
    ["192.0.2.1:5678", "192.0.2.1"],
    ["[2001:db8::1]:5678", "2001:db8:0:0::/64"],
    ["[::ffff:192.0.2.1]:5678", "192.0.2.1"],
    ["::ffff:192.0.2.1:5678", "192.0.2.1"],
    ["[fe80::1%eth0]:443", "fe80:0:0:0::/64"],
    ["unknown:5678", "unknown"],
    ["1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8:9"],
    ["1::2::3", "1::2::3"],
    ["12345::", "12345::"],
    ["", ""],
  ])("%s is %s", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe("LIM-1: connections of one address", () => {
  const max = 3;

  it.each([
    [max - 1, undefined],
    [max, "address"],
    [max + 1, "address"],
  ])("with %i there, one more is %s", (count, refusal) => {
    const addresses = new Addresses();
    for (let i = 0; i < count; i++) addresses.add(sessionFrom("192.0.2.1"));
    expect(addresses.refuse("192.0.2.1", max)).toBe(refusal);
    expect(addresses.refuse("192.0.2.2", max)).toBeUndefined();
    expect(addresses.refuse("192.0.2.1", 0)).toBeUndefined();
  });

  it("a network of IPv6 is one", () => {
    const addresses = new Addresses();
    for (let i = 0; i < max; i++) addresses.add(sessionFrom(`2001:db8::${i}`));
    expect(addresses.refuse("2001:db8::ffff", max)).toBe("address");
    expect(addresses.refuse("2001:db8:0:1::ffff", max)).toBeUndefined();
  });

  it("the networks of a /48 have 16 times as many together, on any of them", () => {
    const addresses = new Addresses();
    const sessions = Array.from({ length: NETWORKS_PER_SITE * max }, (_, i) => sessionFrom(`2001:db8:1:${i + 1}::1`));
    for (const session of sessions.slice(1)) addresses.add(session);
    expect(addresses.refuse("2001:db8:1:ffff::1", max)).toBeUndefined();
    addresses.add(sessions[0]!);
    expect(addresses.refuse("2001:db8:1:ffff::1", max)).toBe("address");
    expect(addresses.refuse("2001:db8:2:ffff::1", max)).toBeUndefined();
    addresses.remove(sessions[0]!);
    expect(addresses.refuse("2001:db8:1:ffff::1", max)).toBeUndefined();
  });

  it("a session that ends frees its place, once", () => {
    const addresses = new Addresses();
    const sessions = Array.from({ length: max }, () => sessionFrom("192.0.2.1"));
    for (const session of sessions) addresses.add(session);
    for (const session of [sessions[0]!, sessions[0]!]) addresses.remove(session);
    expect(addresses.refuse("192.0.2.1", max)).toBeUndefined();
    addresses.add(sessionFrom("192.0.2.1"));
    expect(addresses.refuse("192.0.2.1", max)).toBe("address");
  });

  it(`sessions of all addresses are ${SESSIONS_MAX} at most`, () => {
    const addresses = new Addresses();
    for (let i = 1; i < SESSIONS_MAX; i++) addresses.add(sessionFrom(`192.0.${i >> 8}.${i & 255}`));
    expect(addresses.refuse("198.51.100.1", max)).toBeUndefined();
    addresses.add(sessionFrom("192.0.0.0"));
    expect(addresses.refuse("198.51.100.1", max)).toBe("object");
  });

  it("a connection with much unread counts until it is gone, any other until it is closed", () => {
    const server = bareServer();
    const [stuck, quick] = ["192.0.2.1", "192.0.2.2"].map((address) =>
      server.open({ address, query: {}, issued: START_MS }, "websocket"),
    );
    stuck!.sendWindow.bytes = FLOW_CONTROL_PING_BYTES + 1;
    for (const session of [stuck!, quick!]) server.close(session, CLOSINGS.pingTimeout);
    expect(["192.0.2.1", "192.0.2.2"].map((address) => server.refuseAddress(address, 1))).toEqual([
      "address",
      undefined,
    ]);
    server.lost(stuck!, TRANSPORT_CLOSE);
    expect(server.refuseAddress("192.0.2.1", 1)).toBeUndefined();
  });

  it("a second WebSocket for a session counts until it is gone", () => {
    const server = bareServer();
    const handshake = { address: "192.0.2.1", query: {}, issued: START_MS };
    const session = server.open(handshake, "polling");
    const isFull = (max: number): boolean => server.refuseAddress("192.0.2.1", max) === "address";
    expect(server.openProbe(session)).toBeDefined();
    expect([isFull(1), isFull(2)]).toEqual([true, false]);
    expect(server.openProbe(session)).toBeUndefined();
    const second = server.openOrphan(handshake);
    expect([isFull(2), isFull(3)]).toEqual([true, false]);
    server.lost(second, TRANSPORT_CLOSE);
    expect([isFull(1), isFull(2)]).toEqual([true, false]);
  });
});

describe("LIM-2: connections of one address per minute", () => {
  it("are accepted up to the limit, then again after the minute", () => {
    const rate = new ConnectRate(3);
    expect([1, 2, 3].map(() => rate.take("192.0.2.1", START_MS))).toEqual([0, 0, 0]);
    expect(rate.take("192.0.2.1", START_MS + 1000)).toBe(59);
    expect(rate.take("192.0.2.2", START_MS + 1000)).toBe(0);
    expect(rate.take("192.0.2.1", START_MS + 59_999)).toBe(1);
    expect(rate.take("192.0.2.1", START_MS + 60_000)).toBe(0);
  });

  it("a network of IPv6 is one", () => {
    const rate = new ConnectRate(2);
    expect(["2001:db8::1", "2001:db8::2", "2001:db8::3"].map((address) => rate.take(address, START_MS) > 0)).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("the networks of a /48 have 16 times as many together", () => {
    const rate = new ConnectRate(1);
    const from = (network: number): string => `2001:db8:1:${network.toString(16)}::1`;
    const waits = Array.from({ length: NETWORKS_PER_SITE + 1 }, (_, i) => rate.take(from(i), START_MS));
    expect(waits.map((seconds) => seconds > 0)).toEqual([
      ...Array.from({ length: NETWORKS_PER_SITE }, () => false),
      true,
    ]);
    expect(rate.look(from(99), START_MS)).toBe(60);
    expect(rate.take("2001:db8:2::1", START_MS)).toBe(0);
  });

  it("a check counts nothing", () => {
    const rate = new ConnectRate(1);
    expect([rate.look("a", START_MS), rate.look("a", START_MS), rate.take("a", START_MS)]).toEqual([0, 0, 0]);
    expect(rate.look("a", START_MS)).toBe(60);
  });

  it("0 is no limit, and a clock that was set back starts a new window", () => {
    const rate = new ConnectRate(0);
    expect([rate.take("a", START_MS), rate.look("a", START_MS)]).toEqual([0, 0]);
    const one = new ConnectRate(1);
    one.take("a", START_MS);
    expect(one.take("a", START_MS - 120_000)).toBe(0);
  });

  it("a flood from more networks than it remembers does not make it grow", () => {
    const rate = new ConnectRate(1);
    for (let i = 0; i < NETWORKS_MAX; i++) rate.take(`a${i}`, START_MS);
    expect(rate.take("one more", START_MS)).toBe(0);
    expect(rate.take("a0", START_MS)).toBe(0);
  });
});

describe("LIM-2: sessions from before the limit was reached", () => {
  it("are remembered for their room until they end, and the oldest are forgotten first", () => {
    const known = new KnownSessions();
    known.note("lobby", "old");
    known.note("lobby", "kept");
    expect([known.has("lobby", "old"), known.has("attic", "old")]).toEqual([true, false]);
    for (let i = 0; i < KNOWN_SESSIONS_MAX - 1; i++) {
      known.note("lobby", `s${i}`);
      if (i === 0) known.note("lobby", "kept");
    }
    expect([known.has("lobby", "old"), known.has("lobby", "kept")]).toEqual([false, true]);
    known.forget("lobby", "kept");
    expect(known.has("lobby", "kept")).toBe(false);
  });
});

describe("LIM-3: a client that goes on in spite of refusals", () => {
  /** Spends all requests of a user, and then as many refusals. */
  function flood(client: Client, refusals: number): void {
    let refused = 0;
    for (let i = 0; i < REQUEST_LIMIT.burst + refusals + 100; i++) {
      if (client.closing || refused >= refusals) return;
      const { length } = client.packets;
      client.emit("presence", {});
      refused += client.packets
        .slice(length)
        .filter(({ data }) => (data as unknown[] | undefined)?.[0] === "error").length;
    }
  }

  it.each([
    [FLOOD_REFUSALS_MAX - 1, false],
    [FLOOD_REFUSALS_MAX, false],
    [FLOOD_REFUSALS_MAX + 1, true],
  ])("after %i refusals: sent away %s", async (refusals, isSentAway) => {
    const room = new ChatRoom();
    const mallory = await room.join("mallory");
    flood(mallory, refusals);
    expect(mallory.closing !== undefined).toBe(isSentAway);
  });

  it("gets a notice with the duration, is refused at CONNECT until then, and is let in afterwards", async () => {
    const room = new ChatRoom();
    const mallory = await room.join("mallory");
    flood(mallory, FLOOD_REFUSALS_MAX + 1);
    expect(mallory.received("notice")).toEqual([
      { code: "RATE_LIMITED", message: expect.any(String), retryAfterMs: FLOOD_PAUSE_MS },
    ]);
    expect(mallory.closing).toBe(CLOSINGS.forcedByServer);
    room.shell.advance(FLOOD_PAUSE_MS - 1);
    const early = room.shell.open({ identity: identityOf("mallory") });
    early.send("40");
    await room.shell.settle();
    expect(early.refusal).toMatchObject({ data: { code: "RATE_LIMITED", retryAfterMs: 1 } });
    room.shell.advance(1);
    expect((await room.join("mallory")).closing).toBeUndefined();
  });

  it("another connection of the same user does not end the pause", async () => {
    const room = new ChatRoom();
    const [one, other] = [await room.join("mallory"), await room.join("mallory")];
    flood(one, FLOOD_REFUSALS_MAX + 1);
    room.shell.advance(FLOOD_WINDOW_MS);
    flood(other, 1);
    expect(other.closing).toBeUndefined();
    const again = room.shell.open({ identity: identityOf("mallory") });
    again.send("40");
    await room.shell.settle();
    const retryAfterMs = FLOOD_PAUSE_MS - FLOOD_WINDOW_MS;
    expect(again.refusal).toMatchObject({ data: { code: "RATE_LIMITED", retryAfterMs } });
  });

  it("no other client is affected", async () => {
    const room = new ChatRoom();
    const [mallory, ben] = [await room.join("mallory"), await room.join("ben")];
    flood(mallory, FLOOD_REFUSALS_MAX + 1);
    expect(ben.closing).toBeUndefined();
    expect(await ben.ask("chat-message", { content: "still here" })).toMatchObject({ ok: true });
  });

  it("with pauses as long as the window it is no flood", async () => {
    const room = new ChatRoom();
    const eager = await room.join("eager");
    for (let i = 0; i < 5; i++) {
      flood(eager, FLOOD_REFUSALS_MAX);
      room.shell.advance(FLOOD_WINDOW_MS);
    }
    expect(eager.closing).toBeUndefined();
  });

  it("invalid events cost as much as valid ones", async () => {
    const room = new ChatRoom();
    const clumsy = await room.join("clumsy");
    for (let i = 0; i < REQUEST_LIMIT.burst; i++) clumsy.emit("history", { limit: -1 });
    expect((await clumsy.ask("presence", {})).error.code).toBe("RATE_LIMITED");
    clumsy.emit("chat-message", { content: 7 });
    expect(clumsy.received<{ code: string }>("error").at(-1)?.code).toBe("RATE_LIMITED");
  });

  it("so does a post that is sent again and again", async () => {
    const room = new ChatRoom();
    const mallory = await room.join("mallory");
    const post = { content: "x", clientMsgId: "one" };
    await mallory.ask("chat-message", post);
    for (let i = 0; i < REQUEST_LIMIT.burst; i++)
      expect(await mallory.ask("chat-message", post)).toMatchObject({ ok: true });
    expect((await mallory.ask("chat-message", post)).error.code).toBe("RATE_LIMITED");
  });

  it.each([
    ["MUTED", "mute", { user: "mallory", seconds: 60 }],
    ["ROOM_READ_ONLY", "read-only", { on: true }],
    ["SLOW_MODE", "slow-mode", { seconds: 60 }],
    ["FORBIDDEN", "grant", { user: "mallory", role: "reader" }],
  ])("so does a post that is refused: %s", async (code, action, payload) => {
    const room = new ChatRoom();
    const [mia, mallory] = [await room.join({ user: "mia", role: "moderator" }), await room.join("mallory")];
    expect(await mallory.ask("chat-message", { content: "x" })).toMatchObject({ ok: true });
    expect(await mia.ask(action, payload)).toMatchObject({ ok: true });
    for (let i = 0; i < REQUEST_LIMIT.burst; i++) mallory.emit("chat-message", { content: "x" });
    const codes = (): string[] => mallory.received<{ code: string }>("error").map((error) => error.code);
    expect(codes()).toEqual(Array.from({ length: REQUEST_LIMIT.burst }, () => code));
    for (let i = 0; i <= FLOOD_REFUSALS_MAX; i++) mallory.emit("chat-message", { content: "x" });
    expect(codes().slice(REQUEST_LIMIT.burst)).toEqual(
      Array.from({ length: FLOOD_REFUSALS_MAX + 1 }, () => "RATE_LIMITED"),
    );
    expect(mallory.closing).toBe(CLOSINGS.forcedByServer);
  });
});

describe("LIM-4: packets without meaning", () => {
  const packets = ["6", "5", "0", "3x", "3probe", "431[]", '43999["nobody asked"]'];

  it.each(packets)("%s: at the limit the session stays, beyond it is closed", async (packet) => {
    const { shell } = probeShell();
    const [idle, other] = [await shell.connect(), await shell.connect()];
    for (let i = 0; i < IDLE_PACKETS_MAX; i++) idle.send(packet);
    expect(idle.closing).toBeUndefined();
    idle.send(packet);
    expect(idle.closing).toBe(CLOSINGS.idleFlood);
    expect(other.closing).toBeUndefined();
  });

  it("are counted within their window", async () => {
    const { shell } = probeShell();
    const idle = await shell.connect();
    for (let i = 0; i < 3; i++) {
      for (let n = 0; n < IDLE_PACKETS_MAX; n++) idle.send("6");
      shell.advance(COUNT_WINDOW_MS);
    }
    expect(idle.closing).toBeUndefined();
  });

  it("thousands of them in one frame are read up to the limit", async () => {
    const { shell } = probeShell();
    const idle = await shell.connect({}, undefined, { isExtended: true });
    idle.send(Array.from({ length: 30_000 }, () => "6").join("\x1e"));
    expect(idle.closing).toBe(CLOSINGS.idleFlood);
  });

  it("a WebSocket that probes without end is closed, and the session goes on", () => {
    const server = bareServer();
    const session = server.open({ address: "192.0.2.1", query: {}, issued: START_MS }, "polling");
    const probe = server.openProbe(session)!;
    for (let i = 0; i < IDLE_PACKETS_MAX; i++) void server.receive(probe, "2probe");
    expect(probe.closed).toBe(false);
    void server.receive(probe, "2probe");
    expect([probe.closed, session.closed]).toEqual([true, false]);
  });
});

describe("SIO-11, LIM-4: the counts of CONNECTs and of packets without meaning", () => {
  afterEach(() => vi.restoreAllMocks());
  const handshake = { address: "192.0.2.1", query: {}, issued: START_MS };

  it("forget sessions that are gone, and probes that took over", () => {
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

  it("forget a session that the server dismisses", () => {
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
});
