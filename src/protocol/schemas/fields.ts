// Fields that several schemas share, and the types of what a schema describes. Called by the schemas beside it, and by the HTTP
// API's calls. Schemas drop unknown keys, so older and richer clients get along.
import * as z from "zod";

import { MESSAGE_ID_LENGTH_MAX, USER_LENGTH_MAX } from "../limits.ts";

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

/** The value that a schema has let through. */
export type Sent<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

/** The value that a client may send: fields with a default may be left out. */
export type Given<Schema extends z.ZodType> = DeepReadonly<z.input<Schema>>;

export const count = z.int().min(0);

/** @param what happened then */
export const atMs = (what: string) => count.describe(`${what}, in milliseconds since 1970`);

export const userId = z.string().min(1).max(USER_LENGTH_MAX);

export const messageId = z.string().min(1).max(MESSAGE_ID_LENGTH_MAX);

/** The size of a page. */
export const limitOf = ({ byDefault, max }: { readonly byDefault: number; readonly max: number }) =>
  z.int().min(1).max(max).default(byDefault);

/** The room judges its length, which is a setting. */
export const content = z
  .string()
  .describe("1 to `MAX_CONTENT_LENGTH` characters after trimming; may be empty where the message carries a file");

/** Names every field that was wrong and how, in one line. */
export function describeIssues(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message))
    .join("; ");
}
