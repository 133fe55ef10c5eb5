// Finds the sender of a request: the Worker's own `authenticate` names it where there is one, otherwise a token. Called at every door: the
// Engine.IO endpoint and the HTTP API.
import * as z from "zod/mini";

import type { Identity } from "../../protocol/identity.ts";
import { readAs } from "../../protocol/input.ts";
import { describeIssues } from "../../protocol/schemas/fields.ts";
import { ROLES } from "../../protocol/roles.ts";
import { claimsSchema, displayName } from "../../settings/tokens/claims.ts";
import type { Deployment } from "../deployment.ts";
import type { HostAsked } from "../mount.ts";
import { askHost } from "./host-user.ts";
import { asTrusted, isFollowedLink } from "./request-origin.ts";
import { refuseForeignPage, refuseToken } from "./refusals.ts";

/** Strict: a rule that is misspelled, `room` for `rooms`, would open what it was meant to close. */
const hostUserSchema = z.strictObject({ ...claimsSchema.shape, role: z.optional(z.literal(ROLES)) });

/** The parts of a deployment that know the senders of requests. */
type Knowing = Pick<Deployment, "authenticate" | "tokens" | "settings">;

/**
 * @param asked the token that the request brings, and the room that it connects to
 * @param isLinked whether links on pages of other sites may lead to the address
 * @returns the sender, the refusal, or `undefined` where the request brings no token
 */
export async function identityOf(
  request: Request,
  asked: HostAsked,
  deployment: Knowing,
  isLinked = false,
): Promise<Identity | Response | undefined> {
  if (deployment.authenticate) {
    // It may read a cookie, which browsers send with requests of any page.
    const foreign = refuseForeignPage(deployment.settings.allowedOrigins, request);
    return foreign && !(isLinked && isFollowedLink(request)) ? foreign : hostUser(request, asked, deployment);
  }
  const { token } = asked;
  if (token === undefined) return undefined;
  const result = await deployment.tokens.verify(token);
  return result.ok ? result.identity : refuseToken(result);
}

async function hostUser(
  request: Request,
  asked: HostAsked,
  { authenticate, settings }: Knowing,
): Promise<Identity | Response> {
  return askHost(() => authenticate!(asTrusted(settings.allowedOrigins, request), asked), readHostUser);
}

function readHostUser(given: unknown): Identity {
  const read = readAs(hostUserSchema, given);
  if (!read.success) throw new Error(`authenticate gave no user: ${describeIssues(read.error)}`);
  const { user, name, role = "member", rooms, exp } = read.data;
  return { user, name: displayName(user, name), role, ...(rooms && { rooms }), ...(exp !== undefined && { exp }) };
}
