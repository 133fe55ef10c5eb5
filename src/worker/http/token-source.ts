// Finds the token of a request in a fixed order of places, and selects one of the WebSocket subprotocols that a client offers, since a
// token may be among them. Called by the Engine.IO endpoints and the HTTP API.

export interface FoundToken {
  readonly token?: string;
}

/** A token is offered behind it. */
const TOKEN_FOLLOWS = "bearer";

/** RFC 6455 4.1: a token of HTTP, and so nothing that could not stand in the answer's header. */
const SUBPROTOCOL = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * `Authorization: Bearer`, then `?token=`, then `Sec-WebSocket-Protocol: bearer, TOKEN`.
 * @param inQuery the token of the query
 */
export function findToken(request: Request, inQuery: string | null): FoundToken {
  const offered = offeredBy(request);
  const bearerAt = offered.indexOf(TOKEN_FOLLOWS);
  const token =
    bearerOf(request.headers.get("Authorization")) ?? inQuery ?? (bearerAt >= 0 ? offered[bearerAt + 1] : undefined);
  return { ...(token && { token }) };
}

/** EIO-11: a client that offered any waits for one of them, and takes none for a failure. */
export function findSubprotocol(request: Request): string | undefined {
  const offered = offeredBy(request);
  return offered.includes(TOKEN_FOLLOWS) ? TOKEN_FOLLOWS : offered.find((name) => SUBPROTOCOL.test(name));
}

function offeredBy(request: Request): string[] {
  return (request.headers.get("Sec-WebSocket-Protocol") ?? "").split(",").map((name) => name.trim());
}

export function bearerOf(authorization: string | null): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
}
