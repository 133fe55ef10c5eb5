// Tells visitors how they may come in, and issues tokens to those without an account: a fresh user id and any name. A guest who brings
// an earlier token stays the same user. Called by app.ts.
import { addressOf } from "../http/request-origin.ts";
import * as z from "zod/mini";

import { readGuestToken, type Guest } from "../../settings/tokens/guest-tokens.ts";
import { typedNameSchema } from "../../settings/tokens/claims.ts";
import { signToken } from "../../settings/tokens/tokens.ts";
import { readText } from "../../http/body.ts";
import { readAs } from "../../protocol/input.ts";
import { described } from "../../protocol/schemas/described.ts";
import type { Deployment } from "../deployment.ts";
import {
  issuesOf,
  refuseForeignPage,
  refuseForNow,
  refuseIssues,
  refuseRequest,
  refuseUnauthenticated,
} from "../http/refusals.ts";
import { identityOf } from "../http/identity.ts";
import { bearerOf } from "../http/token-source.ts";

export const GUEST_PATH = "/api/guest";
export const ENTRANCE_PATH = `${GUEST_PATH}/entrance`;

/** A guest's token lives for a day. */
const GUEST_TTL_SECONDS = 24 * 60 * 60;

/** Bytes of a request body. */
const BODY_BYTES_MAX = 4096;

export const guestSchema = z.object({
  name: z.optional(typedNameSchema),
});

export const guestAnswerSchema = z.object({ token: z.string(), user: z.string(), name: z.string() });

export const entranceSchema = z.object({
  guests: z.boolean().apply(described, "Whether `POST /api/guest` gives tokens"),
  signIn: z.optional(z.string().apply(described, "`SIGN_IN_URL`: `{return}` stands for the address to come back to")),
  user: z.optional(
    z
      .object({ user: z.string(), name: z.string() })
      .apply(described, "The user whom the server knows without a token, by a cookie for example"),
  ),
});

// Where no token is looked at, that of a guest would open nothing.
const admitsGuests = ({ settings, authenticate }: Deployment): boolean =>
  !authenticate && settings.guestAccess && settings.jwtSecret !== undefined;

/** `GET /api/guest/entrance` → `{guests, signIn?, user?}`. */
export async function showEntrance(request: Request, deployment: Deployment): Promise<Response> {
  const { signInUrl } = deployment.settings;
  const sender = deployment.authenticate && (await identityOf(request, {}, deployment));
  const isKnown = sender !== undefined && !(sender instanceof Response);
  const entrance: z.output<typeof entranceSchema> = {
    guests: admitsGuests(deployment),
    ...(signInUrl !== undefined && { signIn: signInUrl }),
    ...(isKnown && { user: { user: sender.user, name: sender.name } }),
  };
  return Response.json(entrance, { headers: { "Cache-Control": "no-store" } });
}

/** `POST /api/guest {name?}` → `{token, user, name}`. */
export async function issueGuestToken(request: Request, deployment: Deployment): Promise<Response> {
  const { settings, guestRate } = deployment;
  const { jwtSecret, jwtIssuer: issuer, jwtAudience: audience, guestRooms: rooms } = settings;
  if (!admitsGuests(deployment) || jwtSecret === undefined) {
    return refuseRequest("FORBIDDEN", "Guests are not admitted here; a token is required");
  }
  const foreign = refuseForeignPage(settings.allowedOrigins, request);
  if (foreign) return foreign;
  const waitSeconds = guestRate.take(addressOf(request), Date.now());
  if (waitSeconds > 0) {
    const message = `At most ${settings.connectRatePerIp} guests a minute from one address`;
    return refuseForNow("RATE_LIMITED", message, waitSeconds * 1000);
  }
  const text = await readText(request, BODY_BYTES_MAX);
  if (text === undefined) return refuseRequest("TOO_LONG", `At most ${BODY_BYTES_MAX} bytes`);
  const body = readAs(guestSchema, parseJson(text));
  if (!body.success) return refuseIssues(issuesOf(body.error));
  const bearer = bearerOf(request.headers.get("Authorization"));
  const former = bearer === undefined ? freshGuest() : await readGuestToken(bearer, settings);
  if (!former)
    return refuseUnauthenticated("UNAUTHORIZED", "This is no guest's token, or it ended more than 30 days ago");
  const { user } = former;
  const name = body.data.name || former.name;
  const token = await signToken(jwtSecret, { user, name, guest: true, rooms, issuer, audience }, GUEST_TTL_SECONDS);
  return Response.json({ token, user, name });
}

function freshGuest(): Guest {
  const user = `guest-${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
  return { user, name: user };
}

/** An empty body is an empty object; text that is no JSON fails the schema. */
function parseJson(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
