// Writes and reads cursors, which name the place where a page ended. Clients hand them back unread. Called by calls that list.
import { base64url } from "jose";
import { z } from "zod";

const CURSOR_LENGTH_MAX = 200;

export const cursorSchema = z
  .string()
  .max(CURSOR_LENGTH_MAX)
  .optional()
  .describe("Where the page before ended; `Link` has it");

export function writeCursor(place: readonly unknown[]): string {
  return base64url.encode(JSON.stringify(place));
}

/** @returns `null` for what is no cursor of such a place */
export function readCursor<Place>(schema: z.ZodType<Place>, cursor: string): Place | null {
  try {
    return schema.safeParse(JSON.parse(new TextDecoder().decode(base64url.decode(cursor)))).data ?? null;
  } catch {
    return null;
  }
}
