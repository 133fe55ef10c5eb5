// Tests of what an application writes to an EngineSocket: the values, when they leave, which callbacks run, and their fate when the connection closes
// meanwhile, as on Node.
import { describe, expect, it } from "vitest";

import { POLL_QUEUE_BYTES_MAX } from "../../src/socketio/engine/poll-queue.ts";
import { EngineServer, type EngineTransportName } from "../../src/stock/engine-server.ts";
import { EngineSocket, EngineTransport, type Line } from "../../src/stock/engine-socket.ts";
import { EngineRequest } from "../../src/stock/node-request.ts";

function connection(transport: EngineTransportName = "websocket") {
  const poll = { isWaiting: false };
  const messages: unknown[] = [];
  const closings: unknown[] = [];
  const line: Line = {
    isPollWaiting: () => poll.isWaiting,
    isUpgrading: () => false,
    send: (sent) => void messages.push(...sent),
    close: (...how) => void closings.push(how),
    bundle: () => {},
    unbundle: () => {},
  };
  const request = new EngineRequest({ method: "GET", url: "http://x/socket.io/", headers: [], address: "192.0.2.1" });
  const server = new EngineServer({}, { newId: () => "id", report: () => expect.unreachable() });
  const conn = new EngineSocket(server, request, { id: "1", transport }, line);
  const polls = (): void => {
    poll.isWaiting = true;
    conn.polled();
  };
  const upgrades = (): void => conn.upgradedTo(new EngineTransport("websocket", line));
  return { conn, server, messages, closings, polls, upgrades };
}

it.each([
  ["a text", "text", "text"],
  ["a number", 7, "7"],
  ["nothing", null, ""],
  ["bytes", new Uint8Array([1, 2]), new Uint8Array([1, 2])],
  ["a buffer", new Uint8Array([1, 2]).buffer, new Uint8Array([1, 2])],
  ["a view of some bytes", new DataView(new Uint8Array([1, 2, 3]).buffer, 1, 1), new Uint8Array([2])],
])("%s is sent", (_what, written, sent) => {
  const { conn, messages } = connection();
  conn.send(written);
  expect(messages).toEqual([sent]);
});

it("what is written while packets are on their way waits for them, and callbacks are called when theirs have left", () => {
  const { conn, messages } = connection();
  const left: string[] = [];
  conn.write("one", () => left.push("one"));
  conn.write("two", {}, () => left.push("two"));
  expect([messages, conn.transport.writable]).toEqual([["one"], false]);
  conn.left();
  expect([messages, left]).toEqual([["one", "two"], ["one"]]);
  conn.left();
  expect([left, conn.transport.writable]).toEqual([["one", "two"], true]);
});

it("a connection that closes while packets wait sends them first, and calls no callbacks after its end", async () => {
  const { conn, messages, closings } = connection();
  conn.write("one", () => expect.unreachable());
  conn.write("two");
  conn.close();
  expect([conn.readyState, messages, closings]).toEqual(["closing", ["one"], []]);
  await Promise.resolve();
  expect([messages, closings]).toEqual([["one", "two"], [[true]]]);
  conn.ended("forced close", undefined);
  conn.left();
  conn.write("three");
  expect(messages).toEqual(["one", "two"]);
});

it("one that discards its packets closes at once", () => {
  const { conn, messages, closings } = connection();
  conn.write("one");
  conn.write("two");
  conn.close(true);
  expect([messages, closings]).toEqual([["one"], [[true, true]]]);
});

it.each(["on", "once", "prependListener", "prependOnceListener", "addListener"] as const)(
  "whoever listens by `%s` is told of a packet that is made and leaves",
  (listen) => {
    const { conn, server } = connection();
    const told: string[] = [];
    // The first event goes without listeners.
    conn.write("before");
    conn.left();
    const emitters = Object.entries({ conn, server, transport: conn.transport });
    for (const [name, emitter] of emitters)
      for (const event of ["packetCreate", "flush", "drain", "ready"])
        emitter[listen](event, () => told.push(`${event} of ${name}`));
    conn.write("one");
    expect(told).toEqual([
      "packetCreate of conn",
      "flush of conn",
      "flush of server",
      "drain of conn",
      "drain of server",
    ]);
    conn.left();
    expect(told.slice(5)).toEqual(["drain of transport", "ready of transport"]);
  },
);

it("what makes a callback fail does not hold the connection up", () => {
  const { conn, messages } = connection();
  conn.write("one", () => {
    throw new Error("failed");
  });
  conn.write("two");
  expect(() => conn.left()).toThrow("failed");
  conn.write("three");
  expect(messages).toEqual(["one", "two", "three"]);
});

describe("over long-polling", () => {
  it("packets wait in `writeBuffer` for a poll, and their callbacks until it is answered", () => {
    const { conn, messages, polls } = connection("polling");
    const left: string[] = [];
    conn.write("one", () => left.push("one"));
    conn.write("two");
    expect([messages, conn.writeBuffer.length, conn.transport.writable]).toEqual([[], 2, false]);
    polls();
    expect([messages, conn.writeBuffer.length, left]).toEqual([["one", "two"], 0, []]);
    conn.left();
    expect(left).toEqual(["one"]);
  });

  it("they go over the WebSocket, if the client upgrades before it polls", () => {
    const { conn, messages, upgrades } = connection("polling");
    conn.write("one");
    upgrades();
    expect(messages).toEqual(["one"]);
  });

  it("they do not grow without bound: the session gets them, and ends if its client never fetches them", () => {
    const { conn, messages } = connection("polling");
    conn.write("x".repeat(POLL_QUEUE_BYTES_MAX));
    expect(messages).toEqual([]);
    conn.write("x");
    expect(messages).toHaveLength(2);
  });

  it.each([["polls"], ["upgrades"]] as const)("a connection that is closed ends when its client %s", (comes) => {
    const { conn, messages, closings, ...client } = connection("polling");
    conn.write("one");
    conn.close();
    conn.write("two");
    expect([conn.readyState, messages, closings]).toEqual(["closing", [], []]);
    client[comes]();
    expect([messages, closings]).toEqual([["one"], [[true]]]);
  });

  it("a connection that is closed while a poll waits ends at once", () => {
    const { conn, closings, polls } = connection("polling");
    polls();
    conn.close();
    expect(closings).toEqual([[false]]);
  });
});
