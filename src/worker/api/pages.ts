// Pages of lists: the header `Link` that leads to the next page (API-7), and cursors, which name the place where a page ended. Called by
// calls that list.
import * as z from "zod/mini";

import { decodeJson, encodeJson } from "../../http/base64-json.ts";
import { readAs } from "../../protocol/input.ts";
import { described } from "../../protocol/schemas/described.ts";
import { answering } from "./call.ts";

/** Describes the headers of a page. */
export const LINK_HEADER = { Link: 'The next page, `rel="next"`, where there is one' } as const;

/** The answers of a call that lists. */
export const pageAnswers = <Shape extends z.core.$ZodShape>(page: z.ZodMiniObject<Shape>) => ({
  200: { description: "The page", schema: answering(page), headers: LINK_HEADER },
});

/** Answers with a page. @param next the parameter that leads to the next page, where there is one */
export function respondPage(
  url: URL,
  page: Readonly<Record<string, unknown>> & { readonly hasMore: boolean },
  next: Readonly<Record<string, string | number | undefined>>,
): Response {
  if (!page.hasMore) return Response.json(page);
  const query = new URLSearchParams(url.searchParams);
  for (const [name, value] of Object.entries(next)) query.set(name, String(value));
  return Response.json(page, { headers: { Link: `<${url.pathname}?${query.toString()}>; rel="next"` } });
}

const CURSOR_LENGTH_MAX = 200;

export const cursorSchema = z
  .optional(z.string().check(z.maxLength(CURSOR_LENGTH_MAX)))
  .apply(described, "Where the page before ended; `Link` has it");

export const writeCursor = (place: object): string => encodeJson(place);

/** @returns `null` where the text is no cursor of such a place */
export function readCursor<Place>(schema: z.ZodMiniType<Place>, cursor: string): Place | null {
  try {
    return readAs(schema, decodeJson(cursor)).data ?? null;
  } catch {
    return null;
  }
}
