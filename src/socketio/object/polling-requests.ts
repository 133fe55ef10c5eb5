// Answers the HTTP requests of long-polling: holds each poll until the core answers it. Called by connection-requests.ts and
// socket-object.ts.
import { readText } from "../../http/body.ts";
import { ENGINE_REFUSALS, type EngineRefusal } from "../wire/engine-io.ts";
import type { OpenOptions, SessionServer } from "../engine/session-server.ts";
import type { Handshake, Session } from "../engine/session.ts";

/** The time for reading the body of a refused post. */
const REFUSED_BODY_MS_MAX = 1000;

const POLL_HEADERS = { "Content-Type": "text/plain; charset=UTF-8", "Cache-Control": "no-store" };

export class PollingRequests {
  readonly #server: SessionServer;
  readonly #maxPayloadBytes: number;
  readonly #former: SessionServer | undefined;
  /** Waiting polls by session, each with the function that answers it. */
  readonly #waiting = new Map<Session, (response: Response) => void>();

  /** @param former the server before an erasure; its clients may have final payloads to fetch */
  constructor(server: SessionServer, maxPayloadBytes: number, former?: SessionServer) {
    this.#server = server;
    this.#maxPayloadBytes = maxPayloadBytes;
    this.#former = former;
  }

  /** Answers a first GET: opens a session, and waits for its handshake. */
  open(handshake: Handshake, options: OpenOptions): Promise<Response> {
    const session = this.#server.open(handshake, "polling", options);
    // The layer may have closed it at once: then its handshake is the first of its final payloads.
    return session.closed ? this.poll(session.sid) : this.#wait(session);
  }

  /** Answers a GET with a `sid`: waits for packets. */
  async poll(sid: string): Promise<Response> {
    const session = this.#server.sessions.get(sid);
    if (session) return this.#wait(session);
    const payload = this.#serverOfFinal(sid)?.takeFinalPayload(sid);
    return payload === undefined ? refuse("unknownSid") : new Response(payload, { headers: POLL_HEADERS });
  }

  #wait(session: Session): Promise<Response> {
    return new Promise((resolve) => {
      // The core refuses a second poll at a time, after it has answered the first one.
      const isFirst = !this.#waiting.has(session);
      if (isFirst) this.#waiting.set(session, resolve);
      if (this.#server.poll(session)) return;
      if (isFirst) this.#waiting.delete(session);
      resolve(refuse("badRequest"));
    });
  }

  /** Carries out the effect `answer-poll`. */
  answer(session: Session, payload: string): void {
    const resolve = this.#waiting.get(session);
    this.#waiting.delete(session);
    resolve?.(new Response(payload, { headers: POLL_HEADERS }));
  }

  /** Carries out the effect `refuse-poll`. */
  refuse(session: Session): void {
    const resolve = this.#waiting.get(session);
    this.#waiting.delete(session);
    resolve?.(refuse("badRequest"));
  }

  async post(sid: string, request: Request): Promise<Response> {
    const session = this.#server.sessions.get(sid);
    if (!session || !this.#server.beginPost(session)) {
      // The session has ended meanwhile: its client takes no part in that, and learns it from its next poll.
      const isOver = !session && this.#serverOfFinal(sid) !== undefined;
      // Reads the body within bounds, because the runtime warns about a body that is not read.
      await readText(request, this.#maxPayloadBytes, REFUSED_BODY_MS_MAX).catch(() => undefined);
      return isOver ? accepted() : refuse(session ? "badRequest" : "unknownSid");
    }
    const body = await readText(request, this.#maxPayloadBytes).catch(() => undefined);
    if (body === undefined) {
      this.#server.abandonPost(session);
      return new Response(null, { status: 413 });
    }
    return this.#server.endPost(session, body) ? accepted() : refuse("badRequest");
  }

  /** The server that has final payloads of an ended session. */
  #serverOfFinal(sid: string): SessionServer | undefined {
    return [this.#server, this.#former].find((server) => server?.hasFinalPayload(sid));
  }
}

const accepted = (): Response => new Response("ok", { headers: { "Content-Type": "text/html" } });

export function refuse(refusal: EngineRefusal): Response {
  return Response.json(ENGINE_REFUSALS[refusal], { status: 400 });
}
