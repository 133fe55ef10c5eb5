// The Engine.IO codec: packets to frames and back, and the sizes of frames.
import { describe, expect, it } from "vitest";

import {
  decodeFrame,
  encodeMessage,
  encodeOpen,
  ENGINE_CLOSE,
  ENGINE_NOOP,
  ENGINE_PING,
  ENGINE_PONG,
  frameBytes,
  frameFits,
  type Frame,
} from "../../../src/socketio/wire/engine-io.ts";
import { anyCharacter, fc, runs } from "../../host/properties.ts";

const bytesOf = (...values: number[]): Uint8Array<ArrayBuffer> => new Uint8Array(values);
/** Any text at all, halves of surrogate pairs included. */
const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });

describe("decoding a frame", () => {
  it.each<[frame: Frame, packet: object]>([
    ['0{"sid":"x"}', { type: "open", data: '{"sid":"x"}' }],
    ["1", { type: "close", data: "" }],
    ["2", { type: "ping", data: "" }],
    ["2probe", { type: "ping", data: "probe" }],
    ["3", { type: "pong", data: "" }],
    ["4", { type: "message", data: "" }],
    ["4hello", { type: "message", data: "hello" }],
    ["4\u{1F600}", { type: "message", data: "\u{1F600}" }],
    ["5", { type: "upgrade", data: "" }],
    ["6", { type: "noop", data: "" }],
    [bytesOf(52, 1), { type: "message", data: bytesOf(52, 1) }],
    [bytesOf(), { type: "message", data: bytesOf() }],
  ])("EIO-2, EIO-3: reads %j", (frame, packet) => {
    expect(decodeFrame(frame)).toEqual(packet);
  });

  it.each(["", "7", "8", "9", "a", "{", "-1", " 4", "\u0000", "\u0664", "b4AQI="])(
    "EIO-4: %j is no packet",
    (frame) => {
      expect(decodeFrame(frame)).toBeUndefined();
    },
  );

  it("EIO-4: throws for no input", () => {
    fc.assert(fc.property(anyText, (text) => void decodeFrame(text)));
  });
});

describe("encoding", () => {
  it("EIO-1: a handshake has exactly the five keys, in this order, with any other keys in the object", () => {
    const handshake = { maxPayload: 5, extra: 1, sid: "s", pingTimeout: 4, upgrades: ["websocket"], pingInterval: 3 };
    expect(encodeOpen(handshake)).toBe(
      '0{"sid":"s","upgrades":["websocket"],"pingInterval":3,"pingTimeout":4,"maxPayload":5}',
    );
  });

  it("EIO-2: packets without data are their digit", () => {
    expect([ENGINE_CLOSE, ENGINE_PING, ENGINE_PONG, ENGINE_NOOP]).toEqual(["1", "2", "3", "6"]);
  });

  it("EIO-3: a message of text gets its digit, bytes travel bare; reading gives the same back", () => {
    expect(encodeMessage("x")).toBe("4x");
    expect(encodeMessage(bytesOf(1))).toEqual(bytesOf(1));
    const anyData = fc.oneof(fc.string({ unit: anyCharacter }), fc.uint8Array());
    fc.assert(
      fc.property(anyData, (data) => {
        expect(decodeFrame(encodeMessage(data))).toEqual({ type: "message", data });
      }),
    );
  });
});

describe("EIO-6: the weight of a frame", () => {
  const encoder = new TextEncoder();

  it("is that of its UTF-8, as TextEncoder has it", () => {
    // TextEncoder writes half a surrogate pair as U+FFFD: three bytes. A WebSocket cannot carry one.
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(frameBytes(text)).toBe(encoder.encode(text).length);
      }),
      runs(1000),
    );
  });

  it.each(["x", "\u00e9", "\u20ac", "\u{1F600}"])("fits at limit - 1 and limit, not at limit + 1, in %s", (unit) => {
    const frame = `4${unit.repeat(20)}`;
    const weight = encoder.encode(frame).length;
    expect(frameFits(frame, weight + 1)).toBe(true);
    expect(frameFits(frame, weight)).toBe(true);
    expect(frameFits(frame, weight - 1)).toBe(false);
  });

  it("fits at limit - 1 and limit, not at limit + 1, in bytes", () => {
    expect([9, 10, 11].map((length) => frameFits(new Uint8Array(length), 10))).toEqual([true, true, false]);
  });

  it("decides alike with and without counting", () => {
    const limit = fc.nat(60);
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), limit, (text, max) => {
        expect(frameFits(text, max)).toBe(encoder.encode(text).length <= max);
      }),
      runs(1000),
    );
  });
});
