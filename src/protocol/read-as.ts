// Reads what others wrote by a schema, whatever it is.
import type { z } from "zod";

/**
 * What `safeParse` says, and nothing thrown. zod (4.6, core/checks.ts) holds the length of whatever has one against a limit before it says that it is no
 * string, and a length that is an object with a `toString` of its own cannot be compared.
 */
export function readAs<Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
): z.ZodSafeParseResult<z.output<Schema>> {
  try {
    return schema.safeParse(given);
  } catch {
    return schema.safeParse(withoutLengths(given));
  }
}

/** A copy in which nothing has a length but what has one by nature. */
function withoutLengths(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(withoutLengths);
  if (typeof given !== "object" || given === null || ArrayBuffer.isView(given)) return given;
  const fields = Object.entries(given).filter(([name]) => name !== "length" && name !== "size");
  return Object.fromEntries(fields.map(([name, value]) => [name, withoutLengths(value)]));
}
