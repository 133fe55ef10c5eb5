// What the Worker says of a request for a connection, and the answer where there are too many.
import { decodeUpgradeFacts, UPGRADE_HEADER, type UpgradeFacts } from "../../src/rpc/upgrade-header.ts";
import type { Handshake } from "../../src/socketio/engine/session.ts";
import type { Application } from "./application.ts";

/** Seconds after which a client that was over a connection limit may try again. */
const RETRY_AFTER_SECONDS = 30;

export function factsOf(request: Request): UpgradeFacts {
  return decodeUpgradeFacts(request.headers.get(UPGRADE_HEADER) ?? "");
}

export function handshakeOf({ address, query, identity, canRecover = false }: UpgradeFacts): Handshake {
  return { address, query, canRecover, issued: Date.now(), ...(identity && { identity }) };
}

/** How one more connection is looked at. */
interface Asking {
  /** Whether it is a WebSocket for a session that is there: as many again as may have sessions need one on its way. */
  readonly isArriving?: boolean;
  /** Whether nothing says who it is (LIM-5). */
  readonly isStranger?: boolean;
}

/** The answer to an address with too many connections: LIM-1, LIM-5. */
export function refuseAddress(
  { server, limits: { maxConnectionsPerIp: max } }: Pick<Application, "server" | "limits">,
  address: string,
  { isArriving = false, isStranger = false }: Asking,
): Response | undefined {
  const times = isArriving ? 2 : 1;
  switch (
    server.refuseAddress(address, times * max) ??
    (isArriving || isStranger ? server.refuseUnjoined(address, times * max) : undefined)
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
