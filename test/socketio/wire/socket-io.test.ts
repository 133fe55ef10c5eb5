// The Socket.IO codec: packets of clients are read as they were meant, and violations of the protocol are values.
import { Decoder, Encoder, PacketType, type Packet } from "socket.io-parser";
import { describe, expect, it } from "vitest";

import type { Frame } from "../../../src/socketio/wire/engine-io.ts";
import {
  ATTACHMENTS_MAX,
  encodeAck,
  encodeConnect,
  encodeConnectError,
  encodeDisconnect,
  encodeEvent,
  readMessage,
  type PartialPacket,
  type ReadResult,
} from "../../../src/socketio/wire/socket-io.ts";
import { anyCharacter, fc, runs } from "../../host/properties.ts";

const bytesOf = (...values: number[]): Uint8Array<ArrayBuffer> => new Uint8Array(values);
const placeholder = (num: number): object => ({ _placeholder: true, num });

/** Reads message after message, as a session does. */
function readAll(messages: readonly Frame[]): ReadResult {
  let partial: PartialPacket | undefined;
  let result: ReadResult | undefined;
  for (const message of messages) {
    result = readMessage(message, partial);
    partial = result.kind === "partial" ? structuredClone(result.partial) : undefined;
  }
  return result!;
}

const packetOf = (...messages: Frame[]): unknown => {
  const result = readAll(messages);
  return result.kind === "packet" ? result.packet : result;
};

/** Frames as a client's own parser reads them. */
function decodeAsClient(frames: readonly Frame[]): Packet {
  const decoder = new Decoder();
  let packet: Packet | undefined;
  decoder.on("decoded", (decoded) => (packet = decoded));
  for (const frame of frames) decoder.add(typeof frame === "string" ? frame.slice(1) : frame);
  return packet!;
}

describe("reading", () => {
  it.each<[message: string, packet: object]>([
    ["0", { type: "connect", nsp: "/", auth: {} }],
    ['0{"token":"t"}', { type: "connect", nsp: "/", auth: { token: "t" } }],
    ["0/chat,", { type: "connect", nsp: "/chat", auth: {} }],
    ["0/chat", { type: "connect", nsp: "/chat", auth: {} }],
    ['0/chat,{"a":1}', { type: "connect", nsp: "/chat", auth: { a: 1 } }],
    ["1", { type: "disconnect", nsp: "/" }],
    ["1/chat,", { type: "disconnect", nsp: "/chat" }],
    ['2["x"]', { type: "event", nsp: "/", event: "x", args: [] }],
    ['2["x",1,null,{"y":[]}]', { type: "event", nsp: "/", event: "x", args: [1, null, { y: [] }] }],
    ['2/chat,["x"]', { type: "event", nsp: "/chat", event: "x", args: [] }],
    ['2[""]', { type: "event", nsp: "/", event: "", args: [] }],
    ['20["x"]', { type: "event", nsp: "/", event: "x", args: [], id: 0 }],
    ['2/chat,12["x"]', { type: "event", nsp: "/chat", event: "x", args: [], id: 12 }],
    ['29007199254740991["x"]', { type: "event", nsp: "/", event: "x", args: [], id: Number.MAX_SAFE_INTEGER }],
    ["30[]", { type: "ack", nsp: "/", id: 0, args: [] }],
    ['37["y"]', { type: "ack", nsp: "/", id: 7, args: ["y"] }],
  ])("%s", (message, packet) => {
    expect(packetOf(message)).toEqual(packet);
  });

  it.each([
    "x",
    "7",
    "4{}",
    "0[]",
    "0null",
    "1{}",
    "2",
    "2[]",
    "2{}",
    "2[null]",
    "2[7]",
    '2["x"',
    '2["x"]]',
    '2["connect"]',
    '2["connect_error"]',
    '2["disconnect"]',
    '2["disconnecting"]',
    '2["newListener"]',
    '2["removeListener"]',
    '29007199254740992["x"]',
    `2${"9".repeat(400)}["x"]`,
    "3[]",
    "30",
    "30{}",
    "39007199254740992[]",
    "5",
    '5["x"]',
    '50-["x"]',
    '5-1-["x"]',
    "51-{}",
    '6["x"]',
    "61-{}",
  ])("SIO-6, SIO-7: %j is unreadable", (message) => {
    expect(readMessage(message)).toEqual({ kind: "error", reason: expect.any(String) });
  });

  it("SIO-7: names of the prototype are names like any other", () => {
    for (const name of ["__proto__", "constructor", "hasOwnProperty", "toString"]) {
      expect(packetOf(`2${JSON.stringify([name])}`)).toMatchObject({ event: name });
    }
  });

  it("a key called __proto__ stays a key", () => {
    const { args } = packetOf('2["x",{"__proto__":{"polluted":true}}]') as { args: object[] };
    expect(Object.keys(args[0]!)).toEqual(["__proto__"]);
    expect(args[0]).not.toHaveProperty("polluted");
    expect({}).not.toHaveProperty("polluted");
  });

  it("a key called __proto__ stays a key beside bytes, and may hold them", () => {
    const header = `51-["x",{"__proto__":${JSON.stringify(placeholder(0))}}]`;
    const { args } = packetOf(header, bytesOf(1)) as { args: object[] };
    expect(Object.getOwnPropertyDescriptor(args[0], "__proto__")?.value).toEqual(bytesOf(1));
    expect({}).not.toHaveProperty("0");
  });

  it("nesting to any depth that fits a frame does not throw, with attachments neither", () => {
    const deep = "[".repeat(30_000) + "]".repeat(30_000);
    expect(readMessage(`2["x",${deep}]`).kind).toBe("packet");
    expect(["packet", "error"]).toContain(
      readAll([`51-["x",${deep},${JSON.stringify(placeholder(0))}]`, bytesOf(1)]).kind,
    );
  });

  it("throws for no input", () => {
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.stringMatching(/^[0-6](\d*-)?(\/[a-z]*,)?\d{0,20}[[{"\]}\w,:]*$/),
    );
    const message = fc.oneof(text, fc.uint8Array());
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), (messages) => void readAll(messages)),
      runs(2000),
    );
  });
});

describe("reading binary packets", () => {
  const header = (count: number): string =>
    `5${count}-["x",${Array.from({ length: count }, (_, i) => JSON.stringify(placeholder(i))).join()}]`;

  it("waits for the attachments, and keeps the frames as plain data", () => {
    const first = readMessage(header(2));
    expect(first).toEqual({ kind: "partial", partial: { frames: [header(2)] } });
    expect(packetOf(header(2), bytesOf(1), bytesOf(2))).toEqual({
      type: "event",
      nsp: "/",
      event: "x",
      args: [bytesOf(1), bytesOf(2)],
    });
  });

  it.each([ATTACHMENTS_MAX - 1, ATTACHMENTS_MAX])("SIO-8: takes %d attachments", (count) => {
    const parts = Array.from({ length: count }, (_, i) => bytesOf(i));
    expect(packetOf(header(count), ...parts)).toMatchObject({ event: "x", args: parts });
  });

  it("SIO-8: refuses one more at the header, before anything is kept", () => {
    expect(readMessage(header(ATTACHMENTS_MAX + 1)).kind).toBe("error");
  });

  it("reads a binary ack", () => {
    expect(packetOf(`61-5[${JSON.stringify(placeholder(0))}]`, bytesOf(9))).toEqual({
      type: "ack",
      nsp: "/",
      id: 5,
      args: [bytesOf(9)],
    });
  });

  it("does not mind attachments that nothing points at, or that two places point at", () => {
    expect(packetOf('51-["x"]', bytesOf(1))).toMatchObject({ args: [] });
    const twice = `51-["x",${JSON.stringify(placeholder(0))},${JSON.stringify(placeholder(0))}]`;
    expect(packetOf(twice, bytesOf(1))).toMatchObject({ args: [bytesOf(1), bytesOf(1)] });
  });

  it("takes a placeholder in a text packet for plain data", () => {
    expect(packetOf(`2["x",${JSON.stringify(placeholder(0))}]`)).toMatchObject({ args: [placeholder(0)] });
  });

  it.each([1, -1, "0", "length", "__proto__", null, {}])("SIO-7: refuses the placeholder %j", (num) => {
    const frames = [`51-["x",${JSON.stringify({ _placeholder: true, num })}]`, bytesOf(1)];
    expect(readAll(frames).kind).toBe("error");
  });

  it("SIO-7: refuses bytes where none are due, and text where an attachment is", () => {
    expect(readMessage(bytesOf(1)).kind).toBe("error");
    expect(readAll([header(1), '2["x"]']).kind).toBe("error");
  });

  it("reads a packet of one session between the frames of another's, and after an error", () => {
    const first = readMessage(header(2));
    if (first.kind !== "partial") throw new Error(first.kind);
    expect(packetOf('2["y",1]')).toMatchObject({ event: "y", args: [1] });
    expect(readMessage("2[").kind).toBe("error");
    const second = readMessage(bytesOf(1), first.partial);
    if (second.kind !== "partial") throw new Error(second.kind);
    expect(readMessage(bytesOf(9)).kind).toBe("error");
    expect(readMessage(bytesOf(2), second.partial)).toMatchObject({
      kind: "packet",
      packet: { event: "x", args: [bytesOf(1), bytesOf(2)] },
    });
  });
});

describe("writing", () => {
  it.each<[what: string, frames: Frame[], wire: Frame[]]>([
    ["SIO-2: CONNECT", encodeConnect("/", "s"), ['40{"sid":"s"}']],
    ["SIO-2: CONNECT to a namespace", encodeConnect("/a", "s"), ['40/a,{"sid":"s"}']],
    ["SIO-3: CONNECT_ERROR", encodeConnectError("/random", { message: "m" }), ['44/random,{"message":"m"}']],
    [
      "SIO-3: CONNECT_ERROR with data, message first",
      encodeConnectError("/", { data: { code: 1 }, message: "m" }),
      ['44{"message":"m","data":{"code":1}}'],
    ],
    ["DISCONNECT", encodeDisconnect("/"), ["41"]],
    ["DISCONNECT from a namespace", encodeDisconnect("/a"), ["41/a,"]],
    ["an event", encodeEvent("/", "x", [1, "y"]), ['42["x",1,"y"]']],
    ["SIO-6: an ack with id 0", encodeAck("/", 0, []), ["430[]"]],
    ["an ack in a namespace", encodeAck("/a", 12, [null]), ["43/a,12[null]"]],
    ["bytes", encodeEvent("/", "x", [bytesOf(1)]), ['451-["x",{"_placeholder":true,"num":0}]', bytesOf(1)]],
    ["bytes in an ack", encodeAck("/", 3, [bytesOf(1)]), ['461-3[{"_placeholder":true,"num":0}]', bytesOf(1)]],
  ])("%s", (_what, frames, wire) => {
    expect(frames).toEqual(wire);
  });

  it("takes the bytes of a view of a larger buffer, and buffers too", () => {
    const view = new Uint8Array([0, 1, 2, 3]).subarray(1, 3);
    expect(encodeEvent("/", "x", [view])[1]).toEqual(bytesOf(1, 2));
    expect(encodeEvent("/", "x", [bytesOf(4).buffer])[1]).toEqual(bytesOf(4));
  });

  it("SIO-8: throws for more attachments than a client would read", () => {
    const parts = Array.from({ length: ATTACHMENTS_MAX }, () => bytesOf(1));
    expect(encodeEvent("/", "x", parts)).toHaveLength(ATTACHMENTS_MAX + 1);
    expect(() => encodeEvent("/", "x", [...parts, bytesOf(1)])).toThrow(RangeError);
  });

  describe("what looks like a placeholder, and came from a client", () => {
    const nums = [99, 0, 1, -1, 0.5, 1e300, "0", null, undefined, [0], true];
    const fakes = nums.map((num) => ({ _placeholder: true, num }));

    it.each<[what: string, value: unknown, read: unknown]>([
      ...fakes.map((fake): [string, unknown, unknown] => [
        `with num ${JSON.stringify(fake.num)}`,
        fake,
        JSON.parse(JSON.stringify({ ...fake, _placeholder: false })),
      ]),
      ["deep inside", { a: [[{ b: fakes[0] }]] }, { a: [[{ b: { _placeholder: false, num: 99 } }]] }],
      [
        "with more in it",
        { num: 0, _placeholder: true, x: fakes[1] },
        { num: 0, _placeholder: false, x: { _placeholder: false, num: 0 } },
      ],
      ["without a num", { _placeholder: true }, { _placeholder: false }],
      ["that is none", { _placeholder: "true", num: 99 }, { _placeholder: "true", num: 99 }],
      ["in a text", '{"_placeholder":true,"num":0}', '{"_placeholder":true,"num":0}'],
      ["as a name", { '{"_placeholder":true,"num":0}': 1 }, { '{"_placeholder":true,"num":0}': 1 }],
      ["made by a toJSON", { toJSON: () => fakes[0] }, { _placeholder: false, num: 99 }],
      [
        "made by a toJSON of its mark",
        { _placeholder: { toJSON: () => true }, num: 0 },
        { _placeholder: false, num: 0 },
      ],
      [
        "beside a date",
        { on: new Date(0), ...fakes[0] },
        { on: "1970-01-01T00:00:00.000Z", _placeholder: false, num: 99 },
      ],
    ])("%s: a stock client reads it as data beside bytes, in events and acks", (_what, value, read) => {
      const args = [value, bytesOf(1), value, { more: bytesOf(2, 3) }];
      const expected = [read, bytesOf(1), read, { more: bytesOf(2, 3) }];
      expect(decodeAsClient(encodeEvent("/a", "x", args))).toMatchObject({ nsp: "/a", data: ["x", ...expected] });
      expect(decodeAsClient(encodeAck("/", 7, args))).toMatchObject({ id: 7, data: expected });
    });

    it("stays what it is without bytes", () => {
      expect(decodeAsClient(encodeEvent("/", "x", fakes)).data).toEqual(["x", ...JSON.parse(JSON.stringify(fakes))]);
    });
  });

  it("bytes in several places travel once, so a client that names an attachment often ends nobody's connection", () => {
    const [one, two] = [bytesOf(1), bytesOf(2)];
    const args = [
      two,
      ...Array.from({ length: 12 }, () => ({ deep: [one] })),
      two,
      '{"_placeholder":true,"num":12}',
      12,
    ];
    const frames = encodeEvent("/a1-2", "x", args, 3);
    expect(frames).toHaveLength(3);
    expect(decodeAsClient(frames)).toMatchObject({ nsp: "/a1-2", id: 3, data: ["x", ...args] });
  });

  it.each(["connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"])(
    "an event named %s is a mistake of the application's: SIO-7",
    (event) => {
      expect(() => encodeEvent("/", event, [])).toThrow(`"${event}" is a reserved event name`);
    },
  );
});

describe("round trips", () => {
  const bytes = fc.uint8Array({ maxLength: 8 });
  /** A stock client's own encoder loses this key beside bytes. */
  const key = fc.string().filter((name) => name !== "__proto__");
  const { value } = fc.letrec<{ value: unknown; leaf: unknown }>((tie) => ({
    leaf: fc.oneof(fc.string({ unit: anyCharacter }), fc.integer(), fc.boolean(), fc.constant(null), {
      weight: 1,
      arbitrary: bytes,
    }),
    value: fc.oneof(
      { depthSize: "small", maxDepth: 3 },
      tie("leaf"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  const args = fc.array(value, { maxLength: 3 }).filter((list) => attachmentsIn(list) <= ATTACHMENTS_MAX);
  const nsp = fc.constantFrom("/", "/chat", "/a-b_c");
  const event = fc.string().filter((name) => !/^(dis)?connect(_error|ing)?$|Listener$/.test(name));
  const id = fc.option(fc.nat({ max: Number.MAX_SAFE_INTEGER }), { nil: undefined });

  function attachmentsIn(item: unknown): number {
    if (item instanceof Uint8Array) return 1;
    if (typeof item !== "object" || item === null) return 0;
    return Object.values(item).reduce((sum: number, part) => sum + attachmentsIn(part), 0);
  }

  it("a packet that a stock client encodes is read as the client meant it, asleep after each frame", () => {
    fc.assert(
      fc.property(nsp, event, args, id, (nsp, event, args, id) => {
        const packet = { type: PacketType.EVENT, nsp, data: [event, ...structuredClone(args)], id } as Packet;
        const messages = new Encoder().encode(packet) as Frame[];
        expect(packetOf(...messages)).toEqual({ type: "event", nsp, event, args, ...(id !== undefined && { id }) });
      }),
      runs(500),
    );
  });

  it("an event and an ack that the server encodes are read by a stock client as they were meant", () => {
    fc.assert(
      fc.property(nsp, event, args, fc.nat(), (nsp, event, args, ackId) => {
        expect(decodeAsClient(encodeEvent(nsp, event, args))).toMatchObject({ type: 2, nsp, data: [event, ...args] });
        expect(decodeAsClient(encodeAck(nsp, ackId, args))).toMatchObject({ type: 3, nsp, id: ackId, data: args });
      }),
      runs(500),
    );
  });
});
