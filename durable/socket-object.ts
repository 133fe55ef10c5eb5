// The shell around a Socket.IO server: hibernating WebSockets in, effects out, attachments, the alarm.
// No rule of any application is in here. Source:
// https://developers.cloudflare.com/durable-objects/best-practices/websockets/
import { DurableObject } from "cloudflare:workers";
import { IttyRouter, type IRequest } from "itty-router";

import { decodeUpgradeFacts, UPGRADE_HEADER, type UpgradeFacts } from "../src/access/upgrade-header.ts";
import { CLOSINGS, TRANSPORT_CLOSE, TRANSPORT_ERROR } from "../src/protocol/closings.ts";
import { ENGINE_NOOP, ENGINE_PONG, type Frame } from "../src/protocol/engine-io.ts";
import type { Identity } from "../src/protocol/identity.ts";
import type { Effect } from "../src/socketio/outbox.ts";
import type { ServerPorts, SessionServer } from "../src/socketio/session-server.ts";
import { withoutPartial, type Handshake, type Session, type SessionRecord } from "../src/socketio/session.ts";
import { eraseBut } from "./erasing.ts";
import { PollingRequests, refuse } from "./polling-requests.ts";
import { TIMER_MS_MAX, WakeClock, type Waiting } from "./wake-clock.ts";

/** What an object needs to know besides its server. */
export interface ObjectLimits {
  /** Bytes of one long-polling POST. */
  readonly maxPayloadBytes: number;
  readonly pingIntervalMs: number;
  /** Connections that one address may have here; 0 is no limit. */
  readonly maxConnectionsPerIp: number;
  /** How it waits for its deadlines; tests have reasons of their own. */
  readonly waiting?: Waiting;
}

/** What an application makes of an object. */
export interface Application {
  readonly server: SessionServer;
  readonly limits: ObjectLimits;
  /** Asked before a connection is opened, where the Worker knows who asks: the answer to whom it is refused. */
  readonly turnAway?: (identity: Identity) => Response | undefined;
}

/**
 * Builds the server of an object, and what else the object wants to keep at hand. Called once per instance, before any
 * session is restored, and again after everything stored was erased.
 */
export type CreateServer<Env, Parts extends Application = Application> = (
  ctx: DurableObjectState,
  env: Env,
  ports: ServerPorts,
) => Parts;

/** The attachment of a WebSocket that wants to take over from long-polling. */
const PROBE = { isProbe: true } as const;

/** Seconds after which a client that was over a connection limit may try again. */
const RETRY_AFTER_SECONDS = 30;

/** Random bytes of an id: 20 characters of base64url, the length that Engine.IO's own ids have. */
const ID_BYTES = 15;

export abstract class SocketObject<Env, Parts extends Application = Application> extends DurableObject<Env> {
  readonly #create: CreateServer<Env, Parts>;
  #parts!: Parts;
  #clock!: WakeClock;
  #polling!: PollingRequests;
  readonly #webSockets = new Map<Session, WebSocket>();
  readonly #sessions = new Map<WebSocket, Session>();
  readonly #router = IttyRouter();

  constructor(ctx: DurableObjectState, env: Env, create: CreateServer<Env, Parts>) {
    super(ctx, env);
    this.#create = create;
    this.#begin();
    this.#restore();
    void ctx.blockConcurrencyWhile(() => this.#clock.wake());
    this.#router
      .get("/websocket", (request) => this.#upgrade(factsOf(request)))
      .get("/polling", (request) => this.#poll(factsOf(request)))
      .post("/polling", (request) => this.#polling.post(factsOf(request).sid ?? "", request as unknown as Request));
  }

  /** A server over what is stored, with nobody connected yet. */
  #begin(): void {
    const former = this.#parts?.server;
    this.#parts = this.#create(this.ctx, this.env, {
      now: () => Date.now(),
      newId,
      phase: phaseOf(this.ctx.id),
      apply: (effects) => this.#apply(effects),
      lastPongAtMs: (session) => this.#lastPongAtMs(session),
      report: (problem, error) => this.#report(problem, error),
    });
    const { server, limits } = this.#parts;
    this.#polling = new PollingRequests(server, limits.maxPayloadBytes, former);
    const tick = (): void => void this.#input(() => server.tick());
    this.#clock = new WakeClock(this.ctx.storage, server.deadlines, tick, limits.waiting);
    // The runtime answers a client's pong by itself and notes the time; nobody has to wake for it. EIO-7.
    // An object that waits awake for its next ping has nothing to gain by that, and spares its clients the noop.
    if (limits.pingIntervalMs > TIMER_MS_MAX) {
      this.ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(ENGINE_PONG, ENGINE_NOOP));
    } else this.ctx.setWebSocketAutoResponse();
  }

  /** What the object was built of. */
  protected get parts(): Parts {
    return this.#parts;
  }

  get #server(): SessionServer {
    return this.#parts.server;
  }

  get #limits(): ObjectLimits {
    return this.#parts.limits;
  }

  /** Runs what is asked from outside, by neither a socket nor the clock. */
  protected turn<Result>(run: () => Result): Result {
    return this.#server.outbox.turn(run);
  }

  /**
   * Erases all that is stored and begins anew, as an object that never was. Sessions must have been closed before.
   * @param leave where something is left to the next life: stores it
   */
  protected erase(leave?: () => void): Promise<void> {
    return this.ctx.blockConcurrencyWhile(async () => {
      this.#clock.stop();
      await this.ctx.storage.deleteAlarm();
      if (leave) eraseBut(this.ctx.storage, leave);
      else await this.ctx.storage.deleteAll();
      this.#begin();
      this.#server.wake();
      await this.#clock.wake();
    });
  }

  override async fetch(request: Request): Promise<Response> {
    const response = (await this.#router.fetch(request)) as Response | undefined;
    return response ?? new Response("Not found", { status: 404 });
  }

  // ---- the platform's events -----------------------------------------------------------------------------

  override webSocketMessage(ws: WebSocket, message: string | ArrayBuffer): void | Promise<void> {
    const session = this.#sessionOf(ws);
    // The WebSocket of an upgrade from a polling session that died with the object's last instance.
    if (!session) return finishClose(ws, CLOSINGS.protocolViolation.code, "session unknown");
    const frame: Frame = typeof message === "string" ? message : new Uint8Array(message);
    // No await before the frame is dealt with: the next one of this socket comes as soon as we let go.
    return this.#input(() => this.#server.receive(session, frame));
  }

  override webSocketClose(ws: WebSocket, code: number, reason: string): void {
    const session = this.#sessionOf(ws);
    if (session) this.#input(() => this.#server.lost(session, TRANSPORT_CLOSE));
    this.#forget(ws, session);
    finishClose(ws, code, reason);
  }

  override webSocketError(ws: WebSocket): void {
    const session = this.#sessionOf(ws);
    if (session) this.#input(() => this.#server.lost(session, TRANSPORT_ERROR));
    this.#forget(ws, session);
  }

  override async alarm(): Promise<void> {
    this.#clock.alarmFired();
    this.#input(() => this.#server.tick());
    await this.#clock.arm();
  }

  /** No failure of ours reaches the runtime or another session. */
  #input<Result>(run: () => Result): Result | undefined {
    try {
      return run();
    } catch (error) {
      this.#report("an input could not be dealt with", error);
      return undefined;
    }
  }

  // ---- sockets ---------------------------------------------------------------------------------------------

  #upgrade({ sid, subprotocol, ...facts }: UpgradeFacts): Response {
    const { 0: client, 1: ws } = new WebSocketPair();
    const refusal = sid === undefined ? this.#open(ws, facts) : this.#probe(ws, sid, facts);
    if (refusal) return refusal;
    const headers = subprotocol ? { "Sec-WebSocket-Protocol": subprotocol } : {};
    return new Response(null, { status: 101, webSocket: client, headers });
  }

  #open(ws: WebSocket, facts: UpgradeFacts): Response | undefined {
    const refusal = this.#refuse(facts);
    if (refusal) return refusal;
    this.ctx.acceptWebSocket(ws);
    const { isExtended = false } = facts;
    this.#server.open(handshakeOf(facts), "websocket", { isExtended, link: (session) => this.#link(session, ws) });
    return undefined;
  }

  /** A WebSocket for a session that is carried by long-polling so far. */
  #probe(ws: WebSocket, sid: string, { isExtended }: Pick<UpgradeFacts, "isExtended">): Response | undefined {
    const session = this.#server.sessions.get(sid);
    if (!session) return refuse("unknownSid");
    const probe = this.#server.openProbe(session, isExtended);
    // Hibernating even where it is closed at once: a peer that never answers the closing must not keep us awake.
    this.ctx.acceptWebSocket(ws);
    if (!probe) {
      // As on Node: a client sees the reason in the closing, which it could not in a refused upgrade.
      finishClose(ws, CLOSINGS.protocolViolation.code, "already upgraded");
      return undefined;
    }
    ws.serializeAttachment(PROBE);
    this.#link(probe, ws);
    return undefined;
  }

  #poll({ sid, ...facts }: UpgradeFacts): Response | Promise<Response> {
    if (sid !== undefined) return this.#polling.poll(sid);
    return this.#refuse(facts) ?? this.#polling.open(handshakeOf(facts));
  }

  /** The answer to who may not open a connection at all. */
  #refuse({ address, identity }: UpgradeFacts): Response | undefined {
    if (this.#isOverLimit(address)) return tooManyConnections(this.#limits.maxConnectionsPerIp);
    return identity && this.parts.turnAway?.(identity);
  }

  #isOverLimit(address: string): boolean {
    const { maxConnectionsPerIp } = this.#limits;
    if (maxConnectionsPerIp === 0) return false;
    let connections = 0;
    for (const { handshake } of this.#server.sessions.values()) if (handshake.address === address) connections++;
    return connections >= maxConnectionsPerIp;
  }

  #restore(): void {
    for (const ws of this.ctx.getWebSockets()) this.#restoreOne(ws);
    this.#server.wake();
  }

  #restoreOne(ws: WebSocket): void {
    const record = ws.deserializeAttachment() as SessionRecord | typeof PROBE | null;
    // Without a record it was closed from this side, and only its last goodbye is still due.
    if (record === null) return;
    // The session that it was to take over died with the object's last life.
    if ("isProbe" in record) return finishClose(ws, CLOSINGS.protocolViolation.code, "session unknown");
    if (record.v === 1) this.#server.restore(record, (session) => this.#link(session, ws));
    else finishClose(ws, CLOSINGS.restart.code, CLOSINGS.restart.reason);
  }

  #link(session: Session, ws: WebSocket): void {
    this.#webSockets.set(session, ws);
    this.#sessions.set(ws, session);
  }

  #forget(ws: WebSocket, session: Session | undefined): void {
    this.#sessions.delete(ws);
    if (session) this.#webSockets.delete(session);
    // Whatever else the runtime has to say of this socket, its session does not come back for it.
    ws.serializeAttachment(null);
  }

  #sessionOf(ws: WebSocket): Session | undefined {
    // An object that is woken by a closing does not find the closing socket among its sockets.
    if (!this.#sessions.has(ws)) this.#restoreOne(ws);
    return this.#sessions.get(ws);
  }

  #lastPongAtMs(session: Session): number | undefined {
    const ws = this.#webSockets.get(session);
    return ws && this.ctx.getWebSocketAutoResponseTimestamp(ws)?.getTime();
  }

  // ---- effects ---------------------------------------------------------------------------------------------

  #apply(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.type) {
        case "send":
          for (const session of effect.sessions) this.#send(session, effect.frames);
          break;
        case "answer-poll":
          this.#polling.answer(effect.session, effect.payload);
          break;
        case "refuse-poll":
          this.#polling.refuse(effect.session);
          break;
        case "adopt":
          this.#adopt(effect.session, effect.probe);
          break;
        case "close":
          this.#close(effect.session, effect.closing);
          break;
        case "save":
          this.#save(effect.session);
          break;
      }
    }
  }

  #send(session: Session, frames: readonly Frame[]): void {
    const ws = this.#webSockets.get(session);
    if (!ws) return;
    try {
      for (const frame of frames) ws.send(frame);
    } catch {
      // It is closing; its closing event follows and cleans up.
    }
  }

  #adopt(session: Session, probe: Session): void {
    const ws = this.#webSockets.get(probe);
    if (!ws) return;
    this.#forget(ws, probe);
    this.#link(session, ws);
    this.#save(session);
  }

  #close(session: Session, { code, reason }: { code: number; reason: string }): void {
    const ws = this.#webSockets.get(session);
    if (!ws) return;
    this.#forget(ws, session);
    try {
      ws.close(code, reason);
    } catch {
      // It was closed from the other side at the same moment.
    }
  }

  #save(session: Session): void {
    const ws = this.#webSockets.get(session);
    if (!ws) return;
    try {
      attach(ws, this.#server.record(session));
    } catch (error) {
      this.#report("the state of a session does not fit its attachment", error);
      this.#server.close(session, CLOSINGS.stateTooLarge);
    }
  }

  #report(problem: string, error: unknown): void {
    console.error(`${this.ctx.id.name ?? this.ctx.id.toString()}: ${problem}:`, error);
  }
}

/** @throws Error when the record is too large, or nothing that a structured clone carries */
function attach(ws: WebSocket, record: SessionRecord): void {
  try {
    ws.serializeAttachment(record);
  } catch (error) {
    if (!record.partial) throw error;
    ws.serializeAttachment(withoutPartial(record));
  }
}

/**
 * Closes a socket that has no session, or closes it from our side too: hibernating sockets are not closed by
 * themselves, and the peer waits for our half of the goodbye.
 */
function finishClose(ws: WebSocket, code: number, reason: string): void {
  // 1006 and 1015 mean that nobody is there to hear it.
  if (code === 1006 || code === 1015) return;
  try {
    if (code === 1005) ws.close();
    else ws.close(code, reason);
  } catch {
    // We had closed it already.
  }
}

function factsOf(request: IRequest): UpgradeFacts {
  return decodeUpgradeFacts(request.headers.get(UPGRADE_HEADER) ?? "");
}

function handshakeOf({ address, query, identity, canRecover = false }: UpgradeFacts): Handshake {
  return { address, query, canRecover, issued: Date.now(), ...(identity && { identity }) };
}

function tooManyConnections(limit: number): Response {
  const message = `At most ${limit} connections from one address to one room`;
  return Response.json(
    { error: { code: "TOO_MANY_CONNECTIONS", message } },
    { status: 429, headers: { "Retry-After": String(RETRY_AFTER_SECONDS) } },
  );
}

/** From the object's own id, which is as good as random and never changes. */
function phaseOf(id: DurableObjectId): number {
  return Number.parseInt(id.toString().slice(0, 8), 16) / 2 ** 32;
}

function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}
