// The schema of a link card: what a page says of itself. Rules: src/features/link-cards/SPEC.md.
import * as z from "zod/mini";

import type { Sent } from "./fields.ts";
import { described, named } from "./described.ts";

export const linkCardSchema = z
  .object({
    url: z.string().apply(described, "Where the page was found, after redirects"),
    title: z.string(),
    description: z.exactOptional(z.string()),
    site: z
      .exactOptional(z.string())
      .apply(described, "What the page calls its site; show the host of the asked address with it"),
    picture: z
      .exactOptional(z.string())
      .apply(described, "The address of its picture: `GET /api/link-card/picture?url=` has the bytes"),
  })
  .apply(named, "LinkCard");

/** What a page says of itself. All texts are the page's own, and may be anything. */
export type LinkCard = Sent<typeof linkCardSchema>;
