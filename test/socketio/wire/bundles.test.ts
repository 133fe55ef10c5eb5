// Bundles as text: BUN-1, BUN-2. And the lines of docs/events.md that unpack them in JavaScript.
import { runInNewContext } from "node:vm";

import { io } from "socket.io-client";
import { Decoder, type Packet } from "socket.io-parser";
import { describe, expect, it } from "vitest";

import { bundleEvents, bundlingOf } from "../../../src/socketio/wire/bundles.ts";
import { JOINED_CHARS_MAX, type Frame } from "../../../src/socketio/wire/engine-io.ts";
import { encodeAck, encodeEvent, isReservedEvent } from "../../../src/socketio/wire/socket-io.ts";
import { fc, runs } from "../../host/properties.ts";
import { unpacked, unpackedFrame, unpackingIn } from "../../wire/unpacked.ts";

const PLAIN = bundlingOf([["/", false]])!;
const RECOVERABLE = bundlingOf([["/", true]])!;

describe("BUN-1: the events of a turn are one event", () => {
  it("in order, each a list of its name and its arguments", () => {
    expect(bundleEvents(['42["a"]', '42["b",1,{"c":"d"}]', '42["e","f"]'], PLAIN)).toEqual([
      '42["bundle",[["a"],["b",1,{"c":"d"}],["e","f"]]]',
    ]);
  });

  it("a single event comes as itself", () => {
    expect(bundleEvents(['42["a",1]'], PLAIN)).toEqual(['42["a",1]']);
    expect(bundleEvents(["2", '42["a",1]'], PLAIN)).toEqual(["2", '42["a",1]']);
  });

  it("those of two namespaces apart, however they alternate", () => {
    const both = bundlingOf([
      ["/", false],
      ["/x", false],
    ])!;
    expect(bundleEvents(['42["a"]', '42/x,["b"]', '42["c"]', '42/x,["d"]'], both)).toEqual([
      '42["bundle",[["a"],["c"]]]',
      '42/x,["bundle",[["b"],["d"]]]',
    ]);
    expect(bundleEvents(['42["a"]', '42/x,["b"]', '42["c"]', '42/x,["d"]'], PLAIN)).toEqual([
      '42["bundle",[["a"],["c"]]]',
      '42/x,["b"]',
      '42/x,["d"]',
    ]);
  });

  it.each(["/[", '/["a"]', "/1-", "/7["])("also in a namespace with a strange name: %s", (nsp) => {
    const bundling = bundlingOf([[nsp, false]])!;
    expect(bundleEvents([`42${nsp},["a"]`, `42${nsp},["b"]`, '42["c"]', '42["d"]'], bundling)).toEqual([
      `42${nsp},["bundle",[["a"],["b"]]]`,
      '42["c"]',
      '42["d"]',
    ]);
  });

  it("ends with the offset of its last event, if the client knows recovery", () => {
    const frames = ['42["a","e.1"]', '42["b",{"c":"d"},"e.2"]'];
    expect(bundleEvents(frames, RECOVERABLE)).toEqual(['42["bundle",[["a","e.1"],["b",{"c":"d"},"e.2"]],"e.2"]']);
    expect(bundleEvents(frames, PLAIN)).toEqual(['42["bundle",[["a","e.1"],["b",{"c":"d"},"e.2"]]]']);
  });

  it("which is the last text that ends one, as stock clients read it", () => {
    const offsetOf = (...frames: Frame[]): unknown =>
      (JSON.parse((bundleEvents(frames, RECOVERABLE)[0] as string).slice(2)) as unknown[])[2];
    expect(offsetOf('42["a","e.1"]', '42["b"]', '42["c",{"d":"e"}]', '42["f",["g"]]')).toBe("e.1");
    expect(offsetOf('42["a"]', '42["b",1]')).toBeUndefined();
    for (const text of ["", '"', '\\"', '\\\\"', 'a","b', "\\", '["bundle",'])
      expect(offsetOf('42["a","e.1"]', `42${JSON.stringify(["b", text])}`)).toBe(text);
  });

  it(`has ${JOINED_CHARS_MAX} characters of events at most; further ones follow in the next`, () => {
    const event = (chars: number): string => `42["${"x".repeat(chars - 4)}"]`;
    const [half, rest] = [JOINED_CHARS_MAX / 2, JOINED_CHARS_MAX / 2 - 1];
    const sizes = (...frames: Frame[]): number[] =>
      bundleEvents(frames, PLAIN).map((frame) => unpackedFrame(frame).length);
    expect(sizes(event(half), event(rest))).toEqual([2]);
    expect(sizes(event(half), event(rest + 1))).toEqual([1, 1]);
    expect(sizes(event(half), event(rest), event(10), event(10))).toEqual([2, 2]);
    expect(sizes(event(2 * JOINED_CHARS_MAX), event(10), event(10))).toEqual([1, 2]);
  });
});

describe("BUN-2: other packets keep their place", () => {
  const [first, last] = ['42["a"]', '42["b"]'];
  const acked = encodeEvent("/", "ask", [], 7);
  const bytes = encodeEvent("/", "bytes", [new Uint8Array([1]), new Uint8Array([2])]);

  it.each<readonly [string, readonly Frame[]]>([
    ["an answer", encodeAck("/", 1, ["ok"])],
    ["an answer with bytes", encodeAck("/", 1, [new Uint8Array(1)])],
    ["an event that asks for an ack", acked],
    ["an event with bytes", bytes],
    ["an event of the application that is called bundle", ['42["bundle",[["x"]]]']],
    ["another one, without arguments", ['42["bundle"]']],
    ["a disconnect", ["41"]],
  ])("%s", (_what, between) => {
    expect(bundleEvents([first, first, ...between, last, last], PLAIN)).toEqual([
      '42["bundle",[["a"],["a"]]]',
      ...between,
      '42["bundle",[["b"],["b"]]]',
    ]);
  });

  it("packets of other namespaces, and of Engine.IO, divide nothing, and attachments stay behind their event", () => {
    const elsewhere = encodeEvent("/x", "bytes", [new Uint8Array([1]), new Uint8Array([2])]);
    expect(bundleEvents([first, "2", ...elsewhere, last, "43/x,1[]"], PLAIN)).toEqual([
      '42["bundle",[["a"],["b"]]]',
      "2",
      ...elsewhere,
      "43/x,1[]",
    ]);
  });

  it("frames that are bundled already stay as they are", () => {
    const once = bundleEvents([first, last, ...acked, first, last], PLAIN);
    expect(bundleEvents(once, PLAIN)).toEqual(once);
  });

  it("unpacked, the packets of each namespace are what they were, in their order", () => {
    const nsp = fc.constantFrom("/", "/x", "/y");
    const value = fc.oneof(fc.jsonValue(), fc.uint8Array({ maxLength: 3 }), fc.string());
    const event = fc
      .record({ nsp, name: fc.string(), args: fc.array(value, { maxLength: 3 }), id: fc.option(fc.nat(9)) })
      .filter(({ name }) => name !== "bundle" && !isReservedEvent(name))
      .map(({ nsp, name, args, id }) => encodeEvent(nsp, name, args, id ?? undefined));
    const packet = fc.oneof(
      { weight: 4, arbitrary: event },
      {
        weight: 1,
        arbitrary: fc.record({ nsp, args: fc.array(value) }).map(({ nsp, args }) => encodeAck(nsp, 1, args)),
      },
      { weight: 1, arbitrary: fc.constantFrom<Frame[]>(["2"], ["41"], ["6"]) },
    );
    const sockets = fc
      .subarray(["/", "/x", "/y"], { minLength: 1 })
      .map((names) => names.map((name) => [name, true] as const));
    let saved = 0;
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 30 }), sockets, (packets, bundling) => {
        const frames = packets.flat();
        const bundled = bundleEvents(frames, bundlingOf(bundling)!);
        saved += frames.length - bundled.length;
        const byNamespace = (all: readonly Packet[]): unknown => Map.groupBy(all, ({ nsp }) => nsp);
        expect(byNamespace(read(bundled).flatMap(unpacked))).toEqual(byNamespace(read(frames)));
      }),
      runs(1000),
    );
    expect(saved).toBeGreaterThan(0);
  });
});

describe("the lines that unpack bundles in JavaScript", () => {
  it("call all listeners, those for once once; one that throws is reported, and keeps nothing from the others", () => {
    const socket = io("http://nowhere.example", { autoConnect: false });
    const reported: unknown[] = [];
    runInNewContext(unpackingIn("js"), { socket, Promise: { reject: (error: unknown) => reported.push(error) } });
    const heard: unknown[][] = [];
    const failure = new Error("of the application");
    socket.once("a", (...args) => heard.push(["once", ...args]));
    socket.on("a", () => {
      throw failure;
    });
    for (const event of ["a", "b"]) socket.on(event, (...args) => heard.push([event, ...args]));
    const take = (): unknown =>
      socket.listeners("bundle").forEach((listener) => listener.call(socket, [["a", 1, null], ["b"], ["a", 2, "e.1"]]));
    expect(take).not.toThrow();
    expect(heard).toEqual([["once", 1, null], ["a", 1, null], ["b"], ["a", 2, "e.1"]]);
    expect(reported).toEqual([failure, failure]);
  });
});

/** The packets in frames, as a stock client reads them. */
function read(frames: readonly Frame[]): Packet[] {
  const packets: Packet[] = [];
  const decoder = new Decoder();
  decoder.on("decoded", (packet) => packets.push(packet));
  for (const frame of frames) {
    if (typeof frame !== "string") decoder.add(frame);
    else if (frame.startsWith("4")) decoder.add(frame.slice(1));
  }
  return packets;
}

it("sessions in the same namespaces are bundled alike, whatever the order in which they joined", () => {
  const [one, other] = [["/", true] as const, ["/x", false] as const];
  expect(bundlingOf([one, other])!.name).toBe(bundlingOf([other, one])!.name);
  expect(bundlingOf([one, other])!.name).not.toBe(bundlingOf([one])!.name);
  expect(bundlingOf([["/", false]])!.name).not.toBe(bundlingOf([one])!.name);
  expect(bundlingOf([one, ["/", false]])).toEqual(bundlingOf([["/", false]]));
  expect(bundlingOf([])).toBeUndefined();
});
