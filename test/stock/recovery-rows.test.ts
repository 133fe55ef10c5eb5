// Tests of what the recovery of stock servers stores: before what, how much, and for how long.
import { describe, expect, it } from "vitest";

import { EngineRequest } from "../../src/stock/node-request.ts";
import { PACKET_BYTES_MAX, TABLE_CHARS_MAX } from "../../src/stock/packet-log.ts";
import { NO_OFFSET } from "../../src/stock/known-socket.ts";
import { GONE_MAX, Recovery } from "../../src/stock/recovery.ts";
import { Storage } from "../kit/simulator/storage.ts";
import { Client, RecoveringObject, settled, UNNOTICED_MS, WINDOW_MS } from "./host/recovering-object.ts";

it("the object stores a packet before it sends it", async () => {
  const object = new RecoveringObject();
  /** The positions of packets with the last one that was stored when they left. */
  const left: Array<readonly [position: number, stored: number]> = [];
  object.leaving = (frame) => {
    const offset = /^42\["said",.*"\w{10}\.(\w+)"\]$/.exec(String(frame))?.[1];
    if (offset !== undefined) left.push([Number.parseInt(offset, 36), object.lastStored()]);
  };
  const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
  for (const text of ["one", "two", "three"]) ada.emit("all", text);
  await settled();
  // Packets that are not stored may leave with one that is.
  object.io.volatile.to(ada.id!).emit("said", "volatile");
  object.io.to(ben.id!).emit("said", "four");
  await settled();
  expect(new Set(left.map(([position]) => position))).toEqual(new Set([1, 2, 3, 4]));
  expect(left.filter(([position, stored]) => stored < position)).toEqual([]);
});

describe("rows", () => {
  it("are one for all packets that leave together, and none for volatile ones and questions", async () => {
    const object = new RecoveringObject();
    const ada = await new Client(object).connect();
    const before = object.packetRows;
    for (let at = 0; at < 100; at++) object.io.emit("said", at);
    await settled();
    expect(object.packetRows - before).toBe(1);
    object.io.volatile.emit("said", "volatile");
    object.io.timeout(1).emit("question", () => {});
    object.io
      .timeout(1)
      .to(ada.id!)
      .emit("question", () => {});
    await settled();
    expect(object.packetRows - before).toBe(1);
    expect(ada.got).toHaveLength(103);
  });

  it("are written as docs/cost.md says", async () => {
    const object = new RecoveringObject();
    const costOf = async (run: () => unknown): Promise<number> => {
      await settled();
      const before = object.rowsWritten;
      await run();
      await settled();
      object.commit();
      return object.rowsWritten - before;
    };
    const say = (): void => void object.io.emit("said", "x");
    const client = new Client(object);
    expect(await costOf(() => client.connect()), "a socket comes").toBe(1);
    expect(await costOf(say), "the first packet").toBe(1 + 4);
    expect(await costOf(say), "a packet").toBe(1);
    expect(await costOf(() => Array.from({ length: 50 }, say)), "packets that leave together").toBe(1);
    const change = (): void => {
      void object.socketOf(client).join(["red", "blue"]);
      object.socketOf(client).data.name = "Ada";
    };
    expect(await costOf(change), "changes of rooms and data").toBe(1);
    expect(await costOf(change), "no change").toBe(0);
    expect(await costOf(() => client.break()), "a connection breaks").toBe(1);
    expect(await costOf(() => client.connect()), "its client comes back").toBe(1);
    object.crash();
    expect(await costOf(() => client.connect()), "its client comes back after a crash").toBe(1);
    expect(await costOf(say), "a packet after it").toBe(1);
    object.wait(WINDOW_MS);
    expect(await costOf(say), "a packet before the window is over").toBe(1);
    object.wait(UNNOTICED_MS + 1);
    expect(await costOf(say), "the first packet of a new window").toBe(1 + 2);
    expect(await costOf(() => object.wait(3_600_000)), "an hour of quiet").toBe(1 + 4);
    const other = await new Client(object).connect();
    expect(await costOf(() => other.leave()), "a client leaves").toBe(1);
    client.break();
    expect(await costOf(() => object.wait(WINDOW_MS + 1)), "a client that does not come back").toBe(1);
    expect(await costOf(say), "a packet to nobody").toBe(0);
  });

  it("are none while nobody has come", async () => {
    const object = new RecoveringObject();
    object.io.emit("said", "to nobody");
    await settled();
    expect([object.packetRows, object.sessionRows]).toEqual([0, 0]);
  });

  it("are deleted in time: those of a client that left, of one that does not come back, and old packets", async () => {
    const object = new RecoveringObject();
    const clients = await Promise.all([1, 2, 3].map(() => new Client(object).connect()));
    object.io.emit("said", "x");
    await settled();
    expect([object.sessionRows, object.packetRows]).toEqual([3, 1]);
    clients[0]!.leave();
    await settled();
    expect(object.sessionRows).toBe(2);
    clients[1]!.break();
    object.die();
    await clients[2]!.connect();
    expect([clients[2]!.recovered, object.sessionRows]).toEqual([true, 2]);
    object.wait(WINDOW_MS + 1);
    expect(object.sessionRows).toBe(1);
    clients[2]!.break();
    object.wait(10 * WINDOW_MS);
    expect([object.sessionRows, object.packetRows, object.count("stock_packets_0")]).toEqual([0, 0, 0]);
  });

  it("of packets are bounded by their size: whoever needs one that is gone starts afresh", async () => {
    const object = new RecoveringObject();
    const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
    ada.break();
    const text = "x".repeat(100_000);
    for (let at = 0; at < (5 * TABLE_CHARS_MAX) / text.length; at++) {
      object.io.to("nobody").emit("said", text);
      await settled();
    }
    object.io.to(ben.id!).emit("said", "last");
    await settled();
    expect(object.packetRows).toBeLessThan((2 * TABLE_CHARS_MAX) / text.length + 4);
    ben.break();
    object.die();
    await Promise.all([ada.connect(), ben.connect()]);
    expect([ada.recovered, ben.recovered]).toEqual([false, true]);
  });
});

it.each([
  ["a packet as large as one may be", [PACKET_BYTES_MAX - 100], true],
  ["a larger one", [PACKET_BYTES_MAX], false],
  ["as much as is replayed", Array.from({ length: 8 }, () => 1_000_000), true],
  ["more", Array.from({ length: 9 }, () => 1_000_000), false],
])("who missed %s starts afresh if that is not kept", async (_what, sizes, isRecovered) => {
  const object = new RecoveringObject();
  const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
  ada.break();
  for (const size of sizes) object.io.to(ada.id!).emit("said", "x".repeat(size));
  object.io.emit("said", "to all");
  await settled();
  object.die();
  await Promise.all([ada.connect(), ben.connect()]);
  expect([ada.recovered, ben.recovered]).toEqual([isRecovered, true]);
  expect([ada.got.length, ben.got]).toEqual([isRecovered ? sizes.length + 1 : 0, ["to all"]]);
  expect(object.problems).toEqual([]);
});

it("a storage that fails is named once, and events go on", async () => {
  const object = new RecoveringObject();
  const ada = await new Client(object).connect();
  object.io.emit("said", "stored");
  await settled();
  for (const table of ["stock_packets_0", "stock_packets_1"]) object.storage.sql.exec(`DROP TABLE ${table}`);
  for (let at = 0; at < 3; at++) {
    object.io.emit("said", at);
    await settled();
  }
  expect([ada.got, object.problems]).toEqual([["stored", 0, 1, 2], [expect.stringContaining("no such table")]]);
});

it("whoever missed what a storage lost that failed for a while starts afresh, also after a crash", async () => {
  const object = new RecoveringObject();
  const [ada, ben] = [await new Client(object).connect(), await new Client(object).connect()];
  const emit = async (text: string): Promise<void> => {
    object.io.emit("said", text);
    await settled();
  };
  await emit("stored");
  ada.break();
  object.storage.failure = new Error("full");
  await emit("lost");
  object.storage.failure = undefined;
  await emit("stored again");
  object.die();
  await Promise.all([ada.connect(), ben.connect()]);
  expect([ada.recovered, ben.recovered]).toEqual([false, true]);
  expect([ada.got, ben.got]).toEqual([["stored"], ["stored", "lost", "stored again"]]);
});

it("one socket more than may come back takes the place of the one that left first", () => {
  const recovery = new Recovery({ windowMs: WINDOW_MS, unnoticedMs: UNNOTICED_MS });
  const none = (): void => {};
  const storage = new Storage();
  recovery.open({ storage, now: () => 0, newId: () => "id", report: none, sweepAt: none, lookAt: none, onEmpty: none });
  for (let at = 0; at <= GONE_MAX; at++) {
    const id = `id-${at}`;
    const request = new EngineRequest({ method: "GET", url: "/", headers: [], address: "" });
    const conn = { id, request, close: none, on: none, off: none };
    const rest = {
      connected: true,
      handshake: { auth: {}, issued: 0, time: "" },
      acks: new Map(),
      eventNames: () => [],
    };
    const socket = { id, pid: `pid-${at}`, data: {}, rooms: new Set([id]), conn, ...rest };
    recovery.entered("/", socket);
    recovery.broke(id, [id]);
    if (at === GONE_MAX - 1) expect(recovery.recover("/", "pid-0", NO_OFFSET)?.sid).toBe("id-0");
    if (at === GONE_MAX - 1) recovery.ended("id-0");
  }
  expect([0, 1, GONE_MAX].map((at) => recovery.recover("/", `pid-${at}`, NO_OFFSET)?.sid)).toEqual([
    undefined,
    "id-1",
    `id-${GONE_MAX}`,
  ]);
});
