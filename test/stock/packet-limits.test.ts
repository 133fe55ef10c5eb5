// Tests of the limits that the package socket.io does not have: at each limit and one beyond, through a server of the package.
import type { Server } from "socket.io";
import { describe, expect, it } from "vitest";

import { COUNT_WINDOW_MS } from "../../src/socketio/engine/session-flood.ts";
import { settle, StockObject, type StockClient } from "./host/stock-object.ts";

function register(io: Server): void {
  io.on("connection", (socket) => socket.on("echo", (what: unknown) => void socket.emit("echo", what)));
  io.of("/fixed");
  io.of(/^\/made-/).on("connection", () => {});
}

const LIMITS = { maxConnects: 5, maxPackets: 20, maxNamespaces: 4, maxPartialBytes: 10_000, maxUnjoinedPerIp: 3 };
const object = (own = {}): StockObject => new StockObject(register, { own: { ...LIMITS, ...own } });

const textsOf = ({ frames }: StockClient): string[] => frames.filter((frame) => typeof frame === "string");
const bytes = (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length);

describe("CONNECTs of a connection", () => {
  it("are counted in a window, whether they are let in or not", async () => {
    const stock = object({ maxPackets: 0 });
    const [good, bad] = [stock.open(), stock.open()];
    good.send("40", "40/fixed,", "40/none-1,", "40/none-2,", "40/none-3,");
    bad.send("40", "40/fixed,", "40/none-1,", "40/none-2,", "40/none-3,", "40/none-4,");
    await settle();
    expect([good.closing, bad.closing?.code]).toEqual([undefined, 4006]);
    stock.nowMs += COUNT_WINDOW_MS;
    good.send("40/none-4,");
    await settle();
    expect(good.closing).toBeUndefined();
  });

  it("are counted in each form that the package takes", async () => {
    const stock = object({ maxPackets: 0 });
    const clients = ["4", "4 ", "4\n", "4\u00a0/none,"].map((connect) => {
      const client = stock.open();
      for (let at = 0; at <= LIMITS.maxConnects; at++) client.send(connect.replace("none", `none-${at}`));
      return client;
    });
    await settle();
    expect(clients.map(({ closing }) => closing?.code)).toEqual([4006, 4006, 4006, 4006]);
  });

  it("are not counted where the limit is 0", async () => {
    const client = object({ maxConnects: 0, maxPackets: 0 }).open();
    for (let at = 0; at < 300; at++) client.send(`40/none-${at},`);
    await settle();
    expect(client.closing).toBeUndefined();
  });
});

describe("messages of a connection", () => {
  it("are counted in a window", async () => {
    const stock = object();
    const [good, bad] = [await stock.join(), await stock.join()];
    for (let at = 0; at < 19; at++) for (const client of [good, bad]) client.send(`42["echo",${at}]`);
    bad.send('42["echo",19]');
    await settle();
    expect([good.closing, good.events.length, bad.closing?.code]).toEqual([undefined, 19, 4007]);
    stock.nowMs += COUNT_WINDOW_MS;
    good.send('42["echo",20]');
    await settle();
    expect(good.events.length).toBe(20);
  });
});

describe("namespaces that clients make by a pattern", () => {
  it("end with the limit: who asks for one more is refused, and others are let in", async () => {
    const stock = object({ maxConnects: 0, maxPackets: 0 });
    const client = stock.open();
    // `/` and `/fixed` are there.
    client.send("40", "40/made-1,", "40/made-2,", "40/made-3,", "40/made-1,");
    await settle();
    expect(textsOf(client)).toContain('44/made-3,{"message":"Too many namespaces"}');
    expect([...stock.io._nsps.keys()]).toEqual(["/", "/fixed", "/made-1", "/made-2"]);
    const other = stock.open();
    other.send("40/made-2,", "40/fixed,");
    await settle();
    expect(textsOf(other).filter((text) => text.startsWith("40"))).toHaveLength(2);
  });

  it("end with the limit for each form of a CONNECT", async () => {
    const stock = object({ maxConnects: 0, maxPackets: 0 });
    const client = stock.open();
    client.send("40", "4 /made-1,", "4\n/made-2,", "4\u00a0/made-3,", `4 /made-${"x".repeat(251)},`);
    await settle();
    expect([...stock.io._nsps.keys()]).toEqual(["/", "/fixed", "/made-1", "/made-2"]);
  });

  it("have names of 256 characters", async () => {
    const stock = object({ maxConnects: 0, maxPackets: 0 });
    const client = stock.open();
    const longest = `/made-${"x".repeat(250)}`;
    client.send(`40${longest},`, `40${longest}x,`, `40${longest.slice(0, -1)}?q=1,`);
    await settle();
    expect([...stock.io._nsps.keys()].filter((name) => name.startsWith("/made"))).toEqual([longest]);
    expect(textsOf(client).filter((text) => text.startsWith("44"))).toHaveLength(2);
    expect(client.closing).toBeUndefined();
  });
});

describe("binary packets that do not come whole", () => {
  const header = '451-["echo",{"_placeholder":true,"num":0}]';
  const headerOfTwo = '452-["echo",[{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]]';

  it("take the memory of the object up to a limit, then the connection with most of it is closed", async () => {
    const stock = object();
    const [small, large, last] = [await stock.join(), await stock.join(), await stock.join()];
    small.send(headerOfTwo, bytes(2000));
    large.send(headerOfTwo, bytes(6000));
    last.send(headerOfTwo, bytes(1000));
    expect([small, large, last].map(({ closing }) => closing)).toEqual([undefined, undefined, undefined]);
    last.send(bytes(0));
    small.send(bytes(0), headerOfTwo, bytes(5000));
    await settle();
    expect([small, large, last].map(({ closing }) => closing?.code)).toEqual([undefined, 1009, undefined]);
    expect([small.events.length, last.events.length]).toEqual([1, 1]);
    small.send(bytes(0));
    await settle();
    expect(small.events.length).toBe(2);
  });

  it.each(["02", " 2", "+2", "2.0", "2e0", "0x2"])("count if their number is written as %j", async (count) => {
    const client = await object().join();
    client.send(headerOfTwo.replace("2-", `${count}-`), bytes(LIMITS.maxPartialBytes));
    expect(client.closing?.code).toBe(1009);
  });

  it("count no more when they have come, or their connection has gone", async () => {
    const stock = object({ maxPackets: 0 });
    const client = await stock.join();
    for (let at = 0; at < 20; at++) client.send(header, bytes(4000));
    for (let at = 0; at < 20; at++) {
      const leaving = await stock.join();
      leaving.send(headerOfTwo, bytes(4000));
      leaving.leave();
    }
    await settle();
    expect([client.closing, client.events.length]).toEqual([undefined, 20]);
  });

  it("of which one alone is larger than that ends its connection", async () => {
    /** What an attachment may have beside the header without the type of Engine.IO, and 128 bytes more that each counts. */
    const rest = LIMITS.maxPartialBytes - (headerOfTwo.length - 1) - 128;
    const [good, bad] = [await object().join(), await object().join()];
    good.send(headerOfTwo, bytes(rest));
    bad.send(headerOfTwo, bytes(rest + 1));
    expect([good.closing, bad.closing?.code]).toEqual([undefined, 1009]);
  });
});

describe("connections of an address that have joined nothing", () => {
  it("are counted until they join or go", async () => {
    const stock = object();
    const isFull = (): boolean => stock.unjoined.isFull("192.0.2.1", LIMITS.maxUnjoinedPerIp, stock.nowMs);
    const clients = [stock.open(), stock.open(), stock.open({ address: "198.51.100.1" })];
    expect(isFull()).toBe(false);
    clients.push(stock.open());
    expect(isFull()).toBe(true);
    clients[0]!.send("40/none,");
    await settle();
    expect(isFull()).toBe(true);
    clients[0]!.send("40");
    await settle();
    expect(isFull()).toBe(false);
    clients.push(stock.open());
    expect(isFull()).toBe(true);
    clients[1]!.leave();
    expect(isFull()).toBe(false);
  });
});
