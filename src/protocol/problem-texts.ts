// The texts of errors in values: zod's English ones (locales/en.js, which knows many more), for the errors that schemas here give. Called by
// read-as.ts.
import type * as z from "zod/mini";

type Issue = z.core.$ZodRawIssue;

/** The units of what has a length. */
const UNITS: Readonly<Record<string, string>> = { string: "characters", array: "items" };

/** The text of an error for which the schema itself has none. */
export function problemText(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return `Invalid input: expected ${issue.expected}, received ${kindOf(issue.input)}`;
    case "invalid_value": {
      const values = issue.values.map((value) => JSON.stringify(value)).join("|");
      return issue.values.length === 1
        ? `Invalid input: expected ${values}`
        : `Invalid option: expected one of ${values}`;
    }
    case "too_big":
      return `Too big: expected ${bounded(issue.origin, "<=", issue.maximum)}`;
    case "too_small":
      return `Too small: expected ${bounded(issue.origin, ">=", issue.minimum)}`;
    case "invalid_format":
      return `Invalid string: must match pattern ${issue.pattern}`;
    case "unrecognized_keys":
      return `Unrecognized key${issue.keys.length > 1 ? "s" : ""}: ${issue.keys.map((key) => `"${key}"`).join(", ")}`;
    default:
      return "Invalid input";
  }
}

function bounded(origin: string, sign: string, bound: number | bigint): string {
  const unit = UNITS[origin];
  return unit === undefined ? `${origin} to be ${sign}${bound}` : `${origin} to have ${sign}${bound} ${unit}`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : typeof value;
}
