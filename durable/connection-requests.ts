// What the Worker says of a request for a connection, and the answer where there are too many.
import type { IRequest } from "itty-router";

import { decodeUpgradeFacts, UPGRADE_HEADER, type UpgradeFacts } from "../src/access/upgrade-header.ts";
import type { AddressRefusal } from "../src/socketio/addresses.ts";
import type { Handshake } from "../src/socketio/session.ts";

/** Seconds after which a client that was over a connection limit may try again. */
const RETRY_AFTER_SECONDS = 30;

export function factsOf(request: IRequest): UpgradeFacts {
  return decodeUpgradeFacts(request.headers.get(UPGRADE_HEADER) ?? "");
}

export function handshakeOf({ address, query, identity, canRecover = false }: UpgradeFacts): Handshake {
  return { address, query, canRecover, issued: Date.now(), ...(identity && { identity }) };
}

/** LIM-1: the answer to who may come in later. */
export function refuseFull(full: AddressRefusal, maxConnectionsPerIp: number): Response {
  if (full === "object") return refuseForNow(503, "The room has as many connections as it can hold");
  return refuseForNow(429, `At most ${maxConnectionsPerIp} connections from one address to one room`);
}

function refuseForNow(status: 429 | 503, message: string): Response {
  return Response.json(
    { error: { code: "TOO_MANY_CONNECTIONS", message } },
    { status, headers: { "Retry-After": String(RETRY_AFTER_SECONDS) } },
  );
}
