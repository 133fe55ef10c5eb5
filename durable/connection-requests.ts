// What the Worker says of a request for a connection, and the answer where there are too many.
import type { IRequest } from "itty-router";

import { decodeUpgradeFacts, UPGRADE_HEADER, type UpgradeFacts } from "../src/access/upgrade-header.ts";
import { UnjoinedSessions } from "../src/socketio/unjoined-sessions.ts";
import type { Handshake } from "../src/socketio/session.ts";
import type { Application } from "./application.ts";

/** Seconds after which a client that was over a connection limit may try again. */
const RETRY_AFTER_SECONDS = 30;

export function factsOf(request: IRequest): UpgradeFacts {
  return decodeUpgradeFacts(request.headers.get(UPGRADE_HEADER) ?? "");
}

export function handshakeOf({ address, query, identity, canRecover = false }: UpgradeFacts): Handshake {
  return { address, query, canRecover, issued: Date.now(), ...(identity && { identity }) };
}

/** LIM-5: all objects of an isolate share it, and what a stranger may hold adds up. */
export const UNJOINED = new UnjoinedSessions();

/** How one more connection is looked at. */
interface Asking {
  /** How many times the usual limit of an address counts. */
  readonly times?: number;
  /** Whether nothing says who it is (LIM-5). */
  readonly isStranger?: boolean;
}

/** The answer to an address with too many connections: LIM-1, LIM-5. */
export function refuseAddress(
  { server, limits: { maxConnectionsPerIp: max } }: Pick<Application, "server" | "limits">,
  address: string,
  { times = 1, isStranger = false }: Asking,
): Response | undefined {
  switch (
    server.refuseAddress(address, times * max) ??
    (isStranger ? server.refuseUnjoined(address, max) : undefined)
  ) {
    case "object":
      return refuseForNow(503, "The room has as many connections as it can hold");
    case "address":
      return refuseForNow(429, `At most ${max} connections from one address to one room`);
    case "unjoined":
      return refuseForNow(429, `At most ${max} connections from one address that have joined nothing yet`);
    case undefined:
      return undefined;
  }
}

function refuseForNow(status: 429 | 503, message: string): Response {
  return Response.json(
    { error: { code: "TOO_MANY_CONNECTIONS", message } },
    { status, headers: { "Retry-After": String(RETRY_AFTER_SECONDS) } },
  );
}
