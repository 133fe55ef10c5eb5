// Schema of `refresh-token`, which replaces the token of a connection.
import * as z from "zod";

import type { Given } from "./fields.ts";

export const refreshTokenSchema = z.object({ token: z.string().min(1) });
export type RefreshPayload = Given<typeof refreshTokenSchema>;
