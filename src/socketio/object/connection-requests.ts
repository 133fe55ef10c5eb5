// Answers the HTTP requests of clients to an object: upgrades to WebSocket, and long-polling. Called by socket-object.ts.
import { IttyRouter, type IRequestStrict } from "itty-router";

import { decodeUpgradeFacts, INNER_ORIGIN, UPGRADE_HEADER, type UpgradeFacts } from "../../rpc/upgrade-header.ts";
import type { Transport } from "../engine/engine.ts";
import type { Handshake } from "../engine/session.ts";
import type { Activity } from "./activity.ts";
import type { Admission, Application } from "./application.ts";
import { PollingRequests, refuse } from "./polling-requests.ts";
import type { WebSockets } from "./web-sockets.ts";

/** `Retry-After` for a client over a connection limit. */
const RETRY_AFTER_SECONDS = 30;

const NOT_FROM_CONNECT = "This object takes connections from createParley or connect in its Worker only.";

export class ConnectionRequests {
  readonly polling: PollingRequests;
  readonly #application: Application;
  readonly #webSockets: WebSockets;
  readonly #activity: Activity;
  readonly #router = IttyRouter<IRequestStrict, []>();

  /** @param former the server before an erasure; its clients may have final payloads to fetch */
  constructor(
    application: Application,
    {
      webSockets,
      activity,
      former,
    }: { webSockets: WebSockets; activity: Activity; former: Application["server"] | undefined },
  ) {
    this.polling = new PollingRequests(application.server, application.limits.maxPayloadBytes, former);
    this.#application = application;
    this.#webSockets = webSockets;
    this.#activity = activity;
    this.#router
      .get("/websocket", (request) => this.#admit(request, "websocket", (...admitted) => this.#upgrade(...admitted)))
      .get("/polling", (request) => this.#admit(request, "polling", (...admitted) => this.#poll(...admitted)))
      .post("/polling", (request) => this.#admit(request, "polling", ({ sid = "" }) => this.polling.post(sid, request)))
      // Of a page: the Worker answers it, unless that is left to the application.
      .options("/polling", (request) => this.#admit(request, "polling", () => refuse("badMethod")))
      .all("*", () => new Response("Not found", { status: 404 }));
  }

  async fetch(request: Request): Promise<Response> {
    // A request that a Worker passes on as it came may bring a forged header.
    if (!request.url.startsWith(`${INNER_ORIGIN}/`)) return new Response(NOT_FROM_CONNECT, { status: 404 });
    return (await this.#router.fetch(request)) as Response;
  }

  /** @param answer called at once if the application does not ask to decide */
  #admit(
    request: Request,
    transport: Transport,
    answer: (facts: UpgradeFacts, admission: Admission) => Response | Promise<Response>,
  ): Response | Promise<Response> {
    const facts = this.#factsOf(request, transport);
    const { transports } = this.#application;
    if (transports && !transports.includes(transport)) return refuse("unknownTransport");
    const asked = this.#application.admit?.(request, facts);
    return asked ? finish(asked, (admission) => answer(facts, admission)) : answer(facts, {});
  }

  #factsOf(request: Request, transport: Transport): UpgradeFacts {
    const facts = decodeUpgradeFacts(request.headers.get(UPGRADE_HEADER) ?? "");
    const cause = this.#application.wakeCause?.({ sid: "", handshake: handshakeOf(facts) });
    this.#activity.connection({ method: request.method, transport }, facts.sid, cause);
    const { isExtended, ...plain } = facts;
    // An object that stays awake does not offer the extensions: with them the client would send the heartbeats, which lets an object sleep.
    return isExtended && !this.#application.limits.staysAwake ? facts : plain;
  }

  #upgrade({ sid, subprotocol, ...facts }: UpgradeFacts, admission: Admission): Response {
    const { 0: client, 1: ws } = new WebSocketPair();
    const refusal = sid === undefined ? this.#open(ws, facts, admission) : this.#openProbe(ws, sid, facts);
    if (refusal) return refusal;
    const headers = subprotocol ? { "Sec-WebSocket-Protocol": subprotocol } : {};
    return new Response(null, { status: 101, webSocket: client, headers });
  }

  #open(ws: WebSocket, facts: UpgradeFacts, { sid, request }: Admission): Response | undefined {
    const refusal = this.#refuse(facts);
    if (refusal) return refusal;
    this.#webSockets.accept(ws, facts.tcpId);
    const { isExtended = false } = facts;
    this.#application.server.open(handshakeOf(facts), "websocket", {
      isExtended,
      sid,
      request,
      pair: (session) => this.#webSockets.pair(session, ws),
    });
    return undefined;
  }

  /** Opens a WebSocket for a polling session. */
  #openProbe(ws: WebSocket, sid: string, facts: UpgradeFacts): Response | undefined {
    const { server } = this.#application;
    const session = server.sessions.get(sid);
    if (!session) return refuse("unknownSid");
    const refusal = this.#refuseAddress(facts.address, { isArriving: true });
    if (refusal) return refusal;
    const probe = server.openProbe(session, facts.isExtended);
    if (probe) this.#webSockets.acceptProbe(ws, facts.tcpId, probe);
    else this.#webSockets.acceptOrphan(ws, facts.tcpId, server.openOrphan(handshakeOf(facts)));
    return undefined;
  }

  #poll({ sid, ...facts }: UpgradeFacts, admission: Admission): Response | Promise<Response> {
    if (sid !== undefined) return this.polling.poll(sid);
    const { isJavaScript = false } = facts;
    const opening = { isJavaScript, sid: admission.sid, request: admission.request };
    return this.#refuse(facts) ?? this.polling.open(handshakeOf(facts), opening);
  }

  /** @returns the answer to a request that may not open a connection */
  #refuse(facts: UpgradeFacts): Response | undefined {
    const { address, identity } = facts;
    const elsewhere = this.#application.redirect?.(facts);
    if (elsewhere) return elsewhere;
    const full = this.#refuseAddress(address, { hasIdentity: identity !== undefined });
    return full ?? (identity && this.#application.refuseConnection?.(identity));
  }

  /**
   * LIM-1, LIM-5
   * @param isArriving whether the request is for the WebSocket of a polling session, for which the limit is twice as high
   * @returns the answer to an address with too many connections
   */
  #refuseAddress(
    address: string,
    { isArriving = false, hasIdentity = false }: { isArriving?: boolean; hasIdentity?: boolean },
  ): Response | undefined {
    const { server, limits } = this.#application;
    const { maxConnectionsPerIp, maxUnjoinedPerIp = maxConnectionsPerIp } = limits;
    const factor = isArriving ? 2 : 1;
    const full =
      server.refuseAddress(address, maxConnectionsPerIp * factor) ??
      (hasIdentity ? undefined : server.refuseUnjoined(address, maxUnjoinedPerIp * factor));
    switch (full) {
      case "object":
        return refuseForNow(503, "The room has as many connections as it can hold");
      case "address":
        return refuseForNow(429, `At most ${maxConnectionsPerIp} connections from one address to one room`);
      case "unjoined":
        return refuseForNow(
          429,
          `At most ${maxUnjoinedPerIp} connections from one address that have joined nothing yet`,
        );
      case undefined:
        return undefined;
    }
  }
}

function handshakeOf({ address, query, identity, refusal, canRecover = false }: UpgradeFacts): Handshake {
  const issued = Date.now();
  return { address, query, canRecover, issued, ...(identity && { identity }), ...(refusal && { refusal }) };
}

/** Answers a request once its application has decided. */
async function finish(
  asked: Promise<Response | Admission>,
  answer: (admission: Admission) => Response | Promise<Response>,
): Promise<Response> {
  const admission = await asked;
  if (admission instanceof Response) return admission;
  const response = await answer(admission);
  admission.answering?.(response);
  return response;
}

function refuseForNow(status: 429 | 503, message: string): Response {
  return Response.json(
    { error: { code: "TOO_MANY_CONNECTIONS", message } },
    { status, headers: { "Retry-After": String(RETRY_AFTER_SECONDS) } },
  );
}
