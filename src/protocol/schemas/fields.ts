// Fields that several schemas share, and the types of the values that a schema describes. Called by the schemas beside it, and by the HTTP
// API's calls. Schemas drop unknown keys, so older and richer clients get along.
import * as z from "zod/mini";

import { normalContent } from "../message.ts";
import { MESSAGE_ID_LENGTH_MAX, USER_LENGTH_MAX } from "../limits.ts";
import { described } from "./described.ts";

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

/** The value that a schema has let through. */
export type Sent<Schema extends z.ZodMiniType> = DeepReadonly<z.output<Schema>>;

/** The value that a client may send: fields with a default may be left out. */
export type Given<Schema extends z.ZodMiniType> = DeepReadonly<z.input<Schema>>;

export const count = z.int().check(z.minimum(0));

/** @param what happened then */
export const atMs = (what: string) => count.apply(described, `${what}, in milliseconds since 1970`);

export const userId = z.string().check(z.minLength(1), z.maxLength(USER_LENGTH_MAX));

export const messageId = z.string().check(z.minLength(1), z.maxLength(MESSAGE_ID_LENGTH_MAX));

/** The size of a page. */
export const limitOf = ({ byDefault, max }: { readonly byDefault: number; readonly max: number }) =>
  z._default(z.int().check(z.minimum(1), z.maximum(max)), byDefault);

/** The room judges its length, which is a setting. */
export const content = z
  .string()
  .check(z.overwrite(normalContent))
  .apply(
    described,
    "1 to `MAX_CONTENT_LENGTH` characters in its normal form (MSG-12); may be empty where the message carries a file",
  );

/** A text about something, in the normal form of contents (MSG-12): something can be seen in it. */
export const textOf = (lengthMax: number) =>
  z.string().check(z.overwrite(normalContent), z.minLength(1), z.maxLength(lengthMax));

/** Names every field that was wrong and how, in one line. */
export function describeIssues(error: z.core.$ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message))
    .join("; ");
}
