// Schema of `refresh-token`, which replaces the token of a connection.
import * as z from "zod/mini";

import type { Given } from "./fields.ts";

export const refreshTokenSchema = z.object({ token: z.string().check(z.minLength(1)) });
export type RefreshPayload = Given<typeof refreshTokenSchema>;
