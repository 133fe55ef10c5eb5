// Bytes in the events, answers and fields of `welcome` of custom features: members of a shard get and send them as those of the room do.
import { Deadlines } from "../../../src/clock/deadlines.ts";
import { Uplink } from "../../../src/shards/uplink.ts";
import { describe, expect, it } from "vitest";
import * as z from "zod";

import type { MakeFeatures } from "../../../src/chat/custom/custom-features.ts";
import { refuse, roomEvent, type Audience } from "../../../src/extension/extension.ts";
import type { ShardItem } from "../../../src/protocol/shards.ts";
import { ATTACHMENTS_MAX } from "../../../src/socketio/wire/socket-io.ts";
import { BigRoom, seen } from "../../host/big-room.ts";
import { UNLIMITED } from "../../host/chat-room.ts";
import type { Client } from "../../host/harness.ts";
import { Feature } from "../../host/custom-room.ts";

interface Sent {
  drawn(...args: unknown[]): void;
}

const bytesOf = (...bytes: number[]): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);

const many = (count: number): Uint8Array[] => Array.from({ length: count }, (_, at) => bytesOf(at));

/** A value in which bytes of any kind are a text that names them. */
function plain(value: unknown): unknown {
  if (value instanceof ArrayBuffer) return `bytes ${Buffer.from(value).toString("hex")}`;
  if (ArrayBuffer.isView(value))
    return plain(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength));
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  if ("toJSON" in value) return plain((value as { toJSON(): unknown }).toJSON());
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, plain(field)]));
}

interface Drawing {
  readonly big: BigRoom;
  readonly ada: Client;
  readonly ben: Client;
  /** Payloads of `draw`. */
  readonly payloads: readonly unknown[];
}

interface DrawnIn {
  readonly payload: unknown;
  readonly everyone: Audience<Sent>;
  readonly ofBen: Audience<Sent>;
}

/** A member in the room, one in a shard, and a feature whose event `draw` runs `draw`. */
async function drawing(
  draw: (given: DrawnIn) => unknown,
  welcomes: ReadonlyArray<() => object> = [],
): Promise<Drawing> {
  const payloads: unknown[] = [];
  const run = (payload: unknown, { inside }: Feature): object => {
    payloads.push(payload);
    const [everyone, ofBen] = [inside.everyone, inside.user("ben")] as [Audience<Sent>, Audience<Sent>];
    return draw({ payload, everyone, ofBen }) as object;
  };
  const features: MakeFeatures = (handle) => [
    new Feature(handle, (feature) => ({
      sends: ["drawn"],
      events: { draw: roomEvent({ schema: z.any(), run: (payload) => run(payload, feature) }) },
    })),
    ...welcomes.map((welcome, at) => new Feature(handle, { name: `welcoming-${at}`, welcome })),
  ];
  const big = new BigRoom({ maxMembers: 1, messageRate: UNLIMITED }, { custom: features });
  const ada = await big.room.join("ada");
  const ben = await big.join("ben", 0, { canRecover: false });
  await big.pass(1000);
  return { big, ada, ben, payloads };
}

describe("SHD-2: bytes that a feature sends", () => {
  it.each([
    ["a Uint8Array", bytesOf(1, 2, 255)],
    ["an ArrayBuffer", bytesOf(1, 2, 255).buffer],
    ["a part of a buffer", bytesOf(9, 1, 2, 255, 9).subarray(1, 4)],
    ["a DataView", new DataView(bytesOf(9, 1, 2, 255).buffer, 1)],
    ["a Buffer", Buffer.from([1, 2, 255])],
    ["numbers of 16 bits", new Uint16Array([0x0201])],
    ["no bytes", new Uint8Array()],
    ["100,000 bytes", new Uint8Array(100_000).fill(7)],
    ["those of a `toJSON`", { toJSON: () => ({ raw: bytesOf(1) }) }],
  ])("arrive in a shard as in the room: %s", async (_kind, bytes) => {
    const { big, ada, ben } = await drawing(({ everyone }) => everyone.emit("drawn", bytes));
    ada.emit("draw", {});
    await big.pass(100);
    for (const one of [ada, ben]) expect(plain(one.heard("drawn")), one.name).toEqual([[plain(bytes)]]);
  });

  it("stand where they stood, among texts that look like them, for everyone and for one user", async () => {
    const args = [
      { at: [1, { raw: bytesOf(5) }], when: new Date(0), b: "bAAEC", t: "t", none: undefined, nothing: null },
      bytesOf(6),
      "bAAEC",
      JSON.parse('{"__proto__":{"b":"b"},"bytes":["AAEC"]}'),
    ];
    const { big, ada, ben } = await drawing(({ everyone, ofBen }) => {
      everyone.emit("drawn", ...args);
      ofBen.emit("drawn", ...args);
    });
    ben.emit("draw", {});
    await big.pass(100);
    const [inRoom] = ada.heard("drawn").map(plain);
    expect(inRoom).toMatchObject([{ at: [1, { raw: "bytes 05" }], b: "bAAEC" }, "bytes 06", "bAAEC", {}]);
    expect(ben.heard("drawn").map(plain)).toEqual([inRoom, inRoom]);
  });

  it("come back as bytes to those who missed nothing: a message, bytes and an answer keep their order", async () => {
    const { big, ada, ben } = await drawing(({ everyone }) => {
      everyone.emit("drawn", bytesOf(1));
      return { raw: bytesOf(2) };
    });
    ada.emit("chat-message", { content: "before" });
    const call = ben.call("draw", {});
    ada.emit("chat-message", { content: "after" });
    await big.pass(1000);
    expect(plain(call.answer)).toEqual({ ok: true, raw: "bytes 02" });
    expect(seen(ben)).toEqual(["before", "after"]);
    const events = ben.packets.map(({ data }) => plain(Array.isArray(data) && data[0]));
    expect(events.indexOf("drawn")).toBeGreaterThan(-1);
    expect(events.indexOf("drawn")).toBeLessThan(ben.packets.findIndex(({ data }) => data?.[0]?.ok));
  });

  it("OWN-4: are in answers, at once and later, in refusals, and in `welcome`", async () => {
    const answers = [
      { raw: bytesOf(1) },
      Promise.resolve({ raw: bytesOf(2) }),
      { error: { ...refuse("NOT_FOUND", "gone").error, raw: bytesOf(3) } },
    ];
    const { big, ada, ben } = await drawing(
      ({ payload }) => answers[payload as number],
      [() => ({ seal: bytesOf(4) })],
    );
    const calls = [ada, ben].map((one) => answers.map((_, at) => one.call("draw", at)));
    await big.pass(1000);
    for (const one of calls)
      expect(plain(one.map(({ answer }) => answer))).toEqual([
        { ok: true, raw: "bytes 01" },
        { ok: true, raw: "bytes 02" },
        { error: { code: "NOT_FOUND", message: "gone", raw: "bytes 03" } },
      ]);
    for (const one of [ada, ben]) expect(plain(one.received("welcome"))).toMatchObject([{ seal: "bytes 04" }]);
  });
});

describe("SHD-3: bytes that a member of a shard sends", () => {
  it.each<[string, unknown]>([
    ["alone", bytesOf(1, 2)],
    ["nested", { list: [bytesOf(1), { raw: bytesOf(2) }], text: "bAAEC" }],
    ["twice the same", ((same) => [same, same])(bytesOf(3))],
    ["beside what looks like their text", { raw: bytesOf(1), bytes: ["AAEC"], b: "b", "": "t" }],
    ["none, but what looks like their text", { bytes: ["AAEC"], text: "b" }],
    ["none, but a text", "b{}"],
  ])("reach the feature as those of the room's members do: %s", async (_form, payload) => {
    const { big, ada, ben, payloads } = await drawing(() => {});
    const calls = [ada.call("draw", payload), ben.call("draw", payload)];
    await big.pass(100);
    expect(calls.map(({ answer }) => answer)).toEqual([{ ok: true }, { ok: true }]);
    expect(plain(payloads[0])).toEqual(plain(payload));
    expect(payloads[1]).toStrictEqual(payloads[0]);
  });

  it("in an event of the chat get the room's answer", async () => {
    const { big, ada, ben } = await drawing(() => {});
    const payloads = [
      { content: bytesOf(1) },
      bytesOf(1),
      { content: "hi", attachment: bytesOf(1) },
      { content: "hi", replyTo: [bytesOf(1)] },
    ];
    const calls = [ada, ben].map((one) => payloads.map((payload) => one.call("chat-message", payload)));
    await big.pass(1000);
    const [inRoom, inShard] = calls.map((some) => some.map(({ answer }) => answer));
    expect(inRoom!.map(({ error }) => error.code)).toEqual(Array(4).fill("INVALID_PAYLOAD"));
    expect(inShard).toEqual(inRoom);
  });

  it("SHD-7: count as their base64 among what waits for a slow room: a second payload over the bound is refused", async () => {
    const { big, ben, payloads } = await drawing(() => {});
    const { promise, resolve } = Promise.withResolvers<void>();
    const report = big.report.bind(big);
    big.report = async (given) => {
      await promise;
      return report(given);
    };
    ben.emit("draw", 0);
    await big.pass(0);
    // 80,000 characters each, of the 250,000 of one user.
    const calls = Array.from({ length: 5 }, () => ben.call("draw", new Uint8Array(60_000)));
    expect(calls.map(({ acks }) => acks.length)).toEqual([0, 0, 0, 1, 1]);
    expect(calls[4]!.answer.error.code).toBe("RATE_LIMITED");
    resolve();
    await big.pass(100);
    expect(calls.slice(0, 3).map(({ answer }) => answer)).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
    expect(payloads.slice(1).map((given) => (given as Uint8Array).byteLength)).toEqual([60_000, 60_000, 60_000]);
  });

  it("and names in many places are refused: one attachment would take its size again in each", async () => {
    const { big, ben, payloads } = await drawing(() => {});
    const places = `[${Array(2000).fill('{"_placeholder":true,"num":0}').join()}]`;
    ben.send(`451-7["draw",${places}]`, new Uint8Array(60_000));
    const other = ben.call("draw", "mine");
    await big.pass(100);
    const answers = ben.packets.filter(({ id }) => id === 7).map(({ data }) => data[0]);
    expect(answers).toMatchObject([{ error: { code: "INVALID_PAYLOAD" } }]);
    expect(other.answer).toEqual({ ok: true });
    expect(payloads).toEqual(["mine"]);
  });
});

describe("SHD-3: a payload that a shard cannot pass on", () => {
  const nested = (levels: number): unknown =>
    Array.from({ length: levels }).reduce<unknown>((inner) => ({ inner }), { raw: bytesOf(1) });

  it("nests too deep: it is refused, and nothing is in the log of the room", async () => {
    const { big, ben, payloads } = await drawing(() => {});
    const calls = [nested(3000), nested(600), nested(400)].map((payload) => ben.call("draw", payload));
    await big.pass(100);
    expect(calls.map(({ answer }) => answer.error?.code ?? "ok")).toEqual(["INVALID_PAYLOAD", "INVALID_PAYLOAD", "ok"]);
    expect(payloads).toHaveLength(1);
    expect(big.room.shell.problems).toEqual([]);
  });

  it("CHAT-6: counts as a request: a flood of them is RATE_LIMITED", async () => {
    const { big, ben } = await drawing(() => {});
    const calls = Array.from({ length: 300 }, () => ben.call("draw", nested(600)));
    await big.pass(100);
    expect(new Set(calls.map(({ answer }) => answer.error.code))).toEqual(new Set(["INVALID_PAYLOAD", "RATE_LIMITED"]));
  });
});

describe("SHD-2: a value with many levels", () => {
  const nested = (levels: number): unknown => Array.from({ length: levels }).reduce<unknown>((inner) => ({ inner }), 1);

  it.each([400, 498, 499, 500, 501, 2000])("is heard by all or by nobody: %i", async (levels) => {
    const { big, ada, ben } = await drawing(({ payload, everyone }) => everyone.emit("drawn", payload));
    const call = ada.call("draw", nested(levels));
    await big.pass(100);
    const counts = [ada, ben].map((one) => one.heard("drawn").length);
    expect(counts).toEqual("error" in call.answer ? [0, 0] : [1, 1]);
  });

  it.each([400, 498, 499, 500, 501, 2000])("keeps nobody out of a shard in `welcome`: %i", async (levels) => {
    const { ada, ben } = await drawing(() => {}, [() => ({ state: nested(levels) })]);
    const [inRoom, inShard] = [ada, ben].map((one) =>
      one.received("welcome").map((welcome) => "state" in (welcome as object)),
    );
    expect(inRoom).toHaveLength(1);
    expect(inShard).toEqual(inRoom);
  });
});

describe("SIO-8: more than 10 bytes in a packet", () => {
  const ALL_ELSEWHERE = "to a user who is in a shard";
  it.each(["to everyone", ALL_ELSEWHERE])(
    "fail at the feature's emit, and nothing else of the turn is lost: %s",
    async (where) => {
      const { big, ada, ben } = await drawing(({ payload, everyone, ofBen }) => {
        const bytes = many(payload as number);
        if (where === ALL_ELSEWHERE) ofBen.emit("drawn", bytes);
        else everyone.emit("drawn", bytes);
      });
      const dan = await big.join("dan", 0);
      await big.pass(1000);
      const calls = [
        dan.call("chat-message", { content: "1" }),
        ben.call("draw", ATTACHMENTS_MAX + 1),
        ben.call("draw", ATTACHMENTS_MAX),
        dan.call("presence", {}),
      ];
      await big.pass(1000);
      expect(calls.map(({ answer }) => answer.error?.code)).toEqual([undefined, "INTERNAL", undefined, undefined]);
      expect([seen(ben), seen(dan)]).toEqual([["1"], ["1"]]);
      expect(plain(ben.heard("drawn"))).toEqual([[plain(many(ATTACHMENTS_MAX))]]);
      ada.emit("chat-message", { content: "2" });
      await big.pass(1000);
      expect([seen(ben), seen(dan)]).toEqual([
        ["1", "2"],
        ["1", "2"],
      ]);
    },
  );

  it("OWN-4: in an answer are INTERNAL, in the room and in a shard, and close no connection", async () => {
    const { big, ada, ben } = await drawing(({ payload }) => ({ all: many(payload as number) }));
    const calls = [ada, ben].map((one) => [one.call("draw", ATTACHMENTS_MAX + 1), one.call("draw", ATTACHMENTS_MAX)]);
    await big.pass(1000);
    for (const [over, at] of calls) {
      expect(over!.answer.error.code).toBe("INTERNAL");
      expect(plain(at!.answer)).toEqual({ ok: true, all: plain(many(ATTACHMENTS_MAX)) });
    }
    expect([ada.closing, ben.closing]).toEqual([undefined, undefined]);
  });

  it("in the `welcome` of one feature leave that out; of several together they end that CONNECT alone", async () => {
    const left = await drawing(() => {}, [() => ({ all: many(ATTACHMENTS_MAX + 1) })]);
    for (const one of [left.ada, left.ben]) expect(one.received<object>("welcome")[0]).not.toHaveProperty("all");
    let isOver = false;
    const { big, ada, ben } = await drawing(() => {}, [
      () => ({ one: many(ATTACHMENTS_MAX) }),
      () => (isOver ? { other: bytesOf(1) } : {}),
    ]);
    isOver = true;
    const joining = big.join("dan", 0);
    const post = ben.call("chat-message", { content: "1" });
    const dan = await joining;
    await big.pass(1000);
    expect(dan.received("welcome")).toEqual([]);
    expect(post.answer).toMatchObject({ ok: true });
    expect([seen(ada), seen(ben)]).toEqual([["1"], ["1"]]);
    expect(ben.closing).toBeUndefined();
  });
});

it("an item that a shard cannot carry out fails alone, and is in its log: the stream goes on", async () => {
  const { big, ben } = await drawing(() => {});
  const { members, shell } = big.shard(0);
  const position = members.replica.position!;
  const emit = (event: string): ShardItem => ({ type: "emit", audience: {}, event, argLists: [[{ count: 7 }]] });
  members.replica.carryOut({ before: position, after: position }, [emit("disconnect"), "b{", emit("presence")]);
  expect(ben.received("presence").at(-1)).toEqual({ count: 7 });
  expect(shell.problems).toHaveLength(2);
  const post = ben.call("chat-message", { content: "1" });
  await big.pass(100);
  expect(post.answer).toMatchObject({ ok: true });
});

it("SHD-7: a user's many connections have the share of one among what waits for a slow room, and leave space to others", () => {
  let ids = 0;
  const link = new Uplink({
    report: () => new Promise(() => {}),
    facts: () => ({ sockets: 0, users: 0, typing: 0, counts: {}, epoch: "e1" }),
    now: () => 0,
    newId: () => String(++ids),
    turn: (work) => work(),
    deadline: (name, run, options) => new Deadlines().add(name, run, options),
    problem: () => {},
  });
  const ask = (user: string, socket: string): boolean => {
    const member = { user, name: user, role: "member", sinceMs: 0, owner: user } as const;
    const request = { socket, address: "", member, event: "draw", given: "x".repeat(80_000) };
    return link.ask(
      request,
      () => {},
      () => {},
    );
  };
  // The room does not answer this one.
  expect(ask("ada", "first")).toBe(true);
  const taken = Array.from({ length: 36 }, (_, at) => ask("ben", `tab ${at % 12}`));
  expect(taken.filter(Boolean)).toHaveLength(3);
  expect(ask("cyd", "other")).toBe(true);
});
