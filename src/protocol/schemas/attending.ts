// Schema of attending: a client tells whether somebody looks at its messages.
import * as z from "zod/mini";

import type { Given } from "./fields.ts";

export const attendSchema = z.object({ to: z.literal(["all", "counts"]) });
export type AttendPayload = Given<typeof attendSchema>;
