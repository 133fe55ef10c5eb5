// The texts of errors, as clients read them.
import { expect, it } from "vitest";
import * as z from "zod/mini";

import { readAs } from "../../src/protocol/input.ts";

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
