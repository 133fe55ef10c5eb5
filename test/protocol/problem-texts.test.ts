// The texts of errors, compared with zod's own English.
import * as fc from "fast-check";
import { expect, it } from "vitest";
import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";

import { problemText } from "../../src/protocol/problem-texts.ts";
import { readAs } from "../../src/protocol/read-as.ts";
import { itemSchema } from "../../src/protocol/schemas/announcement.ts";
import { CALLS } from "../../src/worker/api/calls.ts";

const { localeError } = en();

const textsBy = (error: z.core.$ZodErrorMap, schema: z.ZodMiniType, value: unknown): unknown =>
  schema.safeParse(value, { error }).error?.issues;

const VALUES = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(undefined, NaN, Infinity, -Infinity, 1.5, -1, 2 ** 60, -(2 ** 60), "", "x".repeat(5000), []),
  fc.array(fc.integer(), { minLength: 200, maxLength: 1100 }),
);

const SCHEMAS: ReadonlyArray<readonly [string, z.ZodMiniType]> = [
  ...CALLS.map(({ id, given }) => [id, given] as const),
  ["a piece of an announcement", itemSchema],
  ["a strict object", z.strictObject({ a: z.optional(z.string()) })],
];

it.each(SCHEMAS)("%s: the texts are zod's", (_id, schema) => {
  const fields = "shape" in schema ? Object.keys(schema.shape as object) : ["action"];
  const objects = fc.record(Object.fromEntries(fields.map((name) => [name, VALUES])), { requiredKeys: [] });
  fc.assert(
    fc.property(fc.oneof({ arbitrary: objects, weight: 9 }, VALUES), (value) => {
      expect(textsBy(problemText, schema, value)).toEqual(textsBy(localeError, schema, value));
    }),
    { numRuns: 50 },
  );
});

it.each([
  [z.object({ limit: z.int().check(z.maximum(200)) }), { limit: 201 }, "Too big: expected number to be <=200"],
  [z.string().check(z.minLength(1)), "", "Too small: expected string to have >=1 characters"],
  [z.array(z.string()).check(z.maxLength(1)), ["", ""], "Too big: expected array to have <=1 items"],
  [z.tuple([z.string()]), [], "Too small: expected array to have >=1 items"],
  [z.enum(["a", "b"]), "c", 'Invalid option: expected one of "a"|"b"'],
  [z.literal(true), 1, "Invalid input: expected true"],
  [z.string(), null, "Invalid input: expected string, received null"],
  [z.number(), NaN, "Invalid input: expected number, received NaN"],
  [z.string().check(z.regex(/^a$/)), "b", "Invalid string: must match pattern /^a$/"],
  [z.strictObject({}), { a: 1, b: 2 }, 'Unrecognized keys: "a", "b"'],
])("%#: names what was wrong", (schema, value, text) => {
  expect(readAs(schema, value).error?.issues[0]?.message).toBe(text);
});
