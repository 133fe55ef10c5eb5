// The Engine.IO endpoint of a chat: its rooms, and the checks that the settings want. Called by deployment.ts.
import type { Identity } from "../../protocol/identity.ts";
import { roomAllowed } from "../../protocol/room-name.ts";
import { WATCH_QUERY } from "../../protocol/watching.ts";
import type { Deployment } from "../deployment.ts";
import { identityOf } from "../http/identity.ts";
import { refuseRequest } from "../http/refusals.ts";
import { findToken } from "../http/token-source.ts";
import { ConnectRate } from "./connect-rate.ts";
import { EXTENDED_QUERY, UNKNOWN_SESSIONS_PER_CONNECT, type EngineEndpoint } from "./engine-endpoint.ts";
import { Placement } from "./placement.ts";
import { pagesOf } from "./polling-cors.ts";
import { KnownSessions } from "./known-sessions.ts";
import { knowsRecovery } from "./recovery-clients.ts";

/** What an application adds to the query of its clients is nothing to a chat, however long it is. */
const READ: ReadonlySet<string> = new Set([
  "EIO",
  "transport",
  "sid",
  "room",
  "recovery",
  "bundle",
  "ext",
  EXTENDED_QUERY,
  WATCH_QUERY,
]);

type Parts = Pick<Deployment, "settings" | "bindings" | "authenticate" | "tokens">;

export function chatEndpoint(deployment: Parts): EngineEndpoint {
  const { settings, bindings } = deployment;
  const placement = new Placement(bindings);
  return {
    pages: pagesOf(settings.allowedOrigins),
    transports: settings.transports,
    queryRules: { extended: ["ext", EXTENDED_QUERY], keeps: (name) => READ.has(name), bytesMax: 2048 },
    connectRate: new ConnectRate(settings.connectRatePerIp),
    unknownSessions: new ConnectRate(UNKNOWN_SESSIONS_PER_CONNECT * settings.connectRatePerIp),
    knownSessions: new KnownSessions(),
    identify: (request, room, inQuery) => identify(request, room, findToken(request, inQuery).token, deployment),
    canRecover: knowsRecovery,
    placement: (request) => placement.factsOf(request),
    object: (room, sid) => placement.objectOf(room, sid),
  };
}

async function identify(
  request: Request,
  room: string,
  token: string | undefined,
  deployment: Parts,
): Promise<Identity | Response | undefined> {
  const identity = await identityOf(request, { room, token }, deployment);
  if (identity === undefined) {
    if (deployment.settings.authAt === "connect") return undefined;
    return refuseRequest("UNAUTHORIZED", "A token is required at the upgrade");
  }
  if (identity instanceof Response || roomAllowed(identity.rooms, room)) return identity;
  return refuseRequest("FORBIDDEN_ROOM", `The token does not open room ${room}`);
}
