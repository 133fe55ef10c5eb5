// The codec of values as text: it writes plain values as JSON, and keeps bytes as bytes beside any other text.
import { deepStrictEqual } from "node:assert/strict";

import { describe, expect, it } from "vitest";

import { ATTACHMENTS_MAX } from "../../../src/socketio/wire/socket-io.ts";
import { decodeValue, encodeValue, hasBytes } from "../../../src/socketio/wire/value-text.ts";
import { fc, runs } from "../../host/properties.ts";

const bytesOf = (...values: number[]): Uint8Array<ArrayBuffer> => new Uint8Array(values);

const roundTrip = (value: unknown): unknown => decodeValue(encodeValue(value)!);

/** As JSON has it. */
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
/** Texts that the form with bytes uses itself, and names that objects have. */
const text = fc.oneof(fc.string(), fc.constantFrom("b", "t", "bAAEC", "tb", "", "__proto__", "toJSON", "constructor"));
const bytes = fc.uint8Array({ maxLength: 40 }).map((given) => Uint8Array.from(given));

const { value: valueWithBytes } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    bytes,
    text,
    json,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(text, tie("value")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

function countBytes(value: unknown): number {
  if (ArrayBuffer.isView(value)) return 1;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, field) => sum + countBytes(field), 0);
}

describe("a value without bytes", () => {
  it("is its JSON, whatever texts it holds", () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything({ withDate: true, withSparseArray: true }), json, text), (value) => {
        expect(encodeValue(value)).toBe(JSON.stringify(value));
      }),
      runs(4000),
    );
  });

  it("has none where JSON has none", () => {
    expect(encodeValue(undefined)).toBeUndefined();
    expect(encodeValue(() => {})).toBeUndefined();
  });
});

describe("a value with bytes", () => {
  it("comes back with all of them in their places", () => {
    fc.assert(
      fc.property(valueWithBytes, (value) => {
        const count = countBytes(value);
        fc.pre(count <= ATTACHMENTS_MAX);
        expect(hasBytes(encodeValue(value)!)).toBe(count > 0);
        // `toStrictEqual` takes a field named `constructor` for the class.
        deepStrictEqual(roundTrip(value), value);
      }),
      runs(8000),
    );
  });

  it.each<[string, unknown, unknown]>([
    ["an ArrayBuffer", bytesOf(1, 2).buffer, bytesOf(1, 2)],
    ["a part of a buffer", bytesOf(9, 1, 2, 9).subarray(1, 3), bytesOf(1, 2)],
    ["a DataView", new DataView(bytesOf(9, 1, 2).buffer, 1), bytesOf(1, 2)],
    ["a Buffer, whose `toJSON` makes a list", Buffer.from([1, 2]), bytesOf(1, 2)],
    ["more than a chunk", new Uint8Array(20_000).fill(255), new Uint8Array(20_000).fill(255)],
    ["a date beside them", [bytesOf(1), new Date(0)], [bytesOf(1), "1970-01-01T00:00:00.000Z"]],
    ["a `toJSON` that gives them", { toJSON: () => ({ raw: bytesOf(1) }) }, { raw: bytesOf(1) }],
    ["a `toJSON` that gives bytes themselves", [{ toJSON: () => Buffer.from([1]) }], [bytesOf(1)]],
    ["a text that is an object", [bytesOf(1), Object("bAAEC")], [bytesOf(1), "bAAEC"]],
    ["what JSON leaves out", { raw: bytesOf(1), none: undefined, run: () => {} }, { raw: bytesOf(1) }],
    ["what JSON has as null", [bytesOf(1), undefined, NaN], [bytesOf(1), null, null]],
  ])("gives them as a Uint8Array: %s", (_form, value, expected) => {
    expect(roundTrip(value)).toStrictEqual(expected);
  });

  it.each([ATTACHMENTS_MAX - 1, ATTACHMENTS_MAX])("may hold %i", (count) => {
    const value = Array.from({ length: count }, (_, at) => bytesOf(at));
    expect(roundTrip(value)).toStrictEqual(value);
  });

  it("SIO-8: holds them at most 10 times, also the same ones", () => {
    const same = bytesOf(1);
    expect(() => encodeValue(Array(ATTACHMENTS_MAX + 1).fill(same))).toThrow(
      new RangeError("too deep, or bytes in more than 10 places"),
    );
  });
});

describe("the same bytes in several places", () => {
  it("are written once", () => {
    const [one, other] = [new Uint8Array(3000).fill(1), new Uint8Array(3000).fill(2)];
    const value = { list: [one, other, one], 0: other, text: "s0" };
    expect(encodeValue(value)!.length).toBeLessThan(8500);
    expect(roundTrip(value)).toStrictEqual(value);
  });
});

describe("a value that JSON cannot hold", () => {
  const nested = (levels: number, inmost: unknown): unknown =>
    Array.from({ length: levels }).reduce<unknown>((value) => [value], inmost);
  const circle = (...beside: unknown[]): unknown[] => {
    const list = [...beside];
    list.push(list);
    return list;
  };

  it.each<[string, unknown]>([
    ["a circle", circle()],
    ["a circle with bytes", circle(bytesOf(1))],
    ["100,000 levels", nested(100_000, 1)],
    ["100,000 levels, and bytes before", [bytesOf(1), nested(100_000, 1)]],
    ["a bigint", { count: 1n }],
    ["a bigint beside bytes", [bytesOf(1), 1n]],
  ])("throws the errors of JSON: %s", (_form, value) => {
    let thrown: unknown;
    try {
      encodeValue(value);
    } catch (error) {
      thrown = error;
    }
    expect([TypeError, RangeError]).toContain((thrown as Error | undefined)?.constructor);
  });

  it("calls a `toJSON` once, as JSON does", () => {
    class Endless {
      count = 1;
      toJSON(): this {
        return this;
      }
    }
    expect(encodeValue(new Endless())).toBe('{"count":1}');
  });
});
