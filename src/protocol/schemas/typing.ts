// Schema of typing: a client sends it again every few seconds while its user writes.
import * as z from "zod/mini";

import type { Given } from "./fields.ts";

export const typingSchema = z.object({ on: z.boolean() });
export type TypingPayload = Given<typeof typingSchema>;
