// Parses untrusted values by a schema. Called for events, requests, tokens and cursors.
import type * as z from "zod/mini";
import en from "zod/v4/locales/en.js";

import { JSON_LEVELS_MAX } from "./nesting.ts";

const { localeError: error } = en();

/**
 * The result of `safeParse`; never throws. Zod's English texts are given with each value, because zod's own setting belongs to the
 * application that this code runs in.
 */
export const readAs = <Schema extends z.ZodMiniType>(
  schema: Schema,
  given: unknown,
): z.core.util.SafeParseResult<z.output<Schema>> => checkedBy((value) => schema.safeParse(value, { error }), given);

/**
 * The result of a check by zod. It (4.6, core/checks.ts) compares the length of any value with a limit before it finds
 * that it is no string, and a length that is an object with a `toString` of its own cannot be compared: then a copy is
 * checked.
 */
export function checkedBy<Result>(check: (given: unknown) => Result, given: unknown): Result {
  try {
    return check(given);
  } catch {
    return check(comparable(given, JSON_LEVELS_MAX));
  }
}

/** A copy down to so many levels, in which every length and size is one. */
function comparable(given: unknown, levels: number): unknown {
  if (typeof given !== "object" || given === null || ArrayBuffer.isView(given)) return given;
  if (levels === 0) return null;
  if (Array.isArray(given)) return given.map((item) => comparable(item, levels - 1));
  const fields = Object.entries(given).filter(
    ([name, value]) => !((name === "length" || name === "size") && typeof value === "object"),
  );
  return Object.fromEntries(fields.map(([name, value]) => [name, comparable(value, levels - 1)]));
}
