// Reads the token of a guest who asks for the next one, so that the guest stays the same user. Called by the Worker's POST /api/guest.
import { jwtVerify } from "jose";
import * as z from "zod/mini";

import { readAs } from "../../protocol/input.ts";
import type { Settings } from "../settings.ts";
import { nameSchema, userSchema } from "./claims.ts";
import { TOKEN_LENGTH_MAX, type Payload } from "./signatures.ts";
import { isGuestToken, secretsOf } from "./tokens.ts";

/** So long after its end a guest's token still gets another one for the same user. */
export const RENEWABLE_SECONDS = 30 * 24 * 60 * 60;

export interface Guest {
  readonly user: string;
  readonly name: string;
}

const guestSchema = z.object({ sub: userSchema, name: z.optional(nameSchema) });

/** @returns the guest; `undefined` for the token of a user who is no guest, and for one that ended too long ago */
export async function readGuestToken(token: string, settings: Settings): Promise<Guest | undefined> {
  if (token.length > TOKEN_LENGTH_MAX) return undefined;
  for (const secret of secretsOf(settings)) {
    const payload = await payloadOf(token, secret, settings);
    if (payload === undefined) continue;
    const claims = readAs(guestSchema, payload);
    if (!claims.success || !isGuestToken(payload)) return undefined;
    const { sub, name } = claims.data;
    return { user: sub, name: name || sub };
  }
  return undefined;
}

/** @returns the payload if the token was signed with that secret */
async function payloadOf(token: string, secret: string, settings: Settings): Promise<Payload | undefined> {
  const { jwtIssuer: issuer, jwtAudience: audience } = settings;
  try {
    const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), {
      algorithms: ["HS256"],
      clockTolerance: RENEWABLE_SECONDS,
      requiredClaims: ["exp"],
      ...(issuer && { issuer }),
      ...(audience && { audience }),
    });
    return payload;
  } catch {
    return undefined;
  }
}
