// Schemas of reading: the newest message that each user has seen.
import * as z from "zod/mini";

import type { Given } from "./fields.ts";

export const readSchema = z.object({ seq: z.int().check(z.minimum(0)) });
/** The `seq` of the newest message that the user has seen. */
export type ReadPayload = Given<typeof readSchema>;

export const readMarksSchema = z.object({});
