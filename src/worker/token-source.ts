// Where a token may stand in a request, and in which order it is looked for.

export interface FoundToken {
  readonly token?: string;
  /** The subprotocol to select: a client that offered `bearer` waits for that answer. */
  readonly subprotocol?: "bearer";
}

const SUBPROTOCOL = "bearer";

/** `Authorization: Bearer`, then `?token=`, then `Sec-WebSocket-Protocol: bearer, TOKEN`. */
export function findToken(request: Request): FoundToken {
  const offered = (request.headers.get("Sec-WebSocket-Protocol") ?? "").split(",").map((name) => name.trim());
  const bearerAt = offered.indexOf(SUBPROTOCOL);
  const token =
    bearerOf(request.headers.get("Authorization")) ??
    new URL(request.url).searchParams.get("token") ??
    (bearerAt >= 0 ? offered[bearerAt + 1] : undefined);
  return { ...(token && { token }), ...(bearerAt >= 0 && { subprotocol: SUBPROTOCOL }) };
}

export function bearerOf(authorization: string | null): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
}
