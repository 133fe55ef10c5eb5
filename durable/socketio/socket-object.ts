// The shell around a Socket.IO server: hibernating WebSockets in, effects out, attachments, the alarm.
// No rule of any application is in here. Source:
// https://developers.cloudflare.com/durable-objects/best-practices/websockets/
import { DurableObject } from "cloudflare:workers";
import { IttyRouter, type IRequestStrict } from "itty-router";

import { isRoomName } from "../../src/protocol/room-name.ts";
import { logProblem } from "../../src/settings/log.ts";
import type { UpgradeFacts } from "../../src/rpc/upgrade-header.ts";
import { CLOSINGS, TRANSPORT_CLOSE, TRANSPORT_ERROR, type Closing } from "../../src/socketio/wire/closings.ts";
import { ENGINE_NOOP, ENGINE_PONG, type Frame } from "../../src/socketio/wire/engine-io.ts";
import type { Effect } from "../../src/socketio/engine/outbox.ts";
import type { ServerSideAnswer, ServerSideEvent } from "../../src/socketio/server/server-side.ts";
import type { SessionServer } from "../../src/socketio/engine/session-server.ts";
import type { Session, SessionRecord } from "../../src/socketio/engine/session.ts";
import { Activity, type Wake } from "./activity.ts";
import type { Application, CreateServer } from "./application.ts";
import { factsOf, handshakeOf, refuseAddress } from "./connection-requests.ts";
import { countedStorage } from "./counted-storage.ts";
import { eraseStored, type Leave } from "./erasing.ts";
import { newId, phaseOf } from "./object-identity.ts";
import { PollingRequests, refuse } from "./polling-requests.ts";
import { roomTokens } from "./room-tokens.ts";
import { gone, strayed, UNJOINED } from "./strays.ts";
import { TIMER_MS_MAX, WakeClock } from "./wake-clock.ts";
import { accept, attach, CODE_OF_NONE, finishClose, PROBE, sendAll } from "./web-socket-ends.ts";

export abstract class SocketObject<Env, Parts extends Application = Application> extends DurableObject<Env> {
  readonly #create: CreateServer<Env, Parts>;
  #parts!: Parts;
  #clock!: WakeClock;
  #polling!: PollingRequests;
  readonly #webSockets = new Map<Session, WebSocket>();
  readonly #sessions = new Map<WebSocket, Session>();
  readonly #router = IttyRouter<IRequestStrict, []>();
  /** Whose moment it was when something ran before it was known what woke this instance. */
  #metBefore: string | undefined;
  /** What happens here, counted, for as long as this instance lives. */
  protected readonly activity = new Activity(
    (wake) => this.onWoken?.(wake),
    () => this.#rest(),
  );

  constructor(ctx: DurableObjectState, env: Env, create: CreateServer<Env, Parts>) {
    super(ctx, env);
    this.#create = create;
    this.#begin();
    this.#restore();
    void ctx.blockConcurrencyWhile(() => this.#clock.wake({ mayHaveDied: this.#sessions.size === 0 }));
    this.#router
      .get("/websocket", (request) => this.#upgrade(this.#factsOf(request)))
      .get("/polling", (request) => this.#poll(this.#factsOf(request)))
      .post("/polling", (request) => this.#polling.post(this.#factsOf(request).sid ?? "", request))
      .all("*", () => new Response("Not found", { status: 404 }));
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
      report: (problem, error) => this.report(problem, error),
      tokens: roomTokens(this.env as object, this.ctx.id.name),
      rooms: { isName: isRoomName, call: (room, event) => this.#callRoom(room, event) },
      meter: this.activity.meter,
      unjoined: UNJOINED,
    });
    const { server, limits } = this.#parts;
    this.#polling = new PollingRequests(server, limits.maxPayloadBytes, former);
    const tick = (): void => {
      const met = this.#tick();
      // A timer of an object that an alarm has just woken may be sooner than that alarm.
      if (!this.activity.wake) this.#metBefore ??= met;
    };
    this.#clock = new WakeClock(countedStorage(this.ctx.storage, this.activity.meter), server.deadlines, tick, {
      waiting: limits.waiting,
      hold: () => this.activity.hold(),
      rest: () => this.#rest(),
    });
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

  /**
   * Runs what is asked from outside, by neither a socket nor the clock.
   * @param call its name, where that may tell why the object woke
   */
  protected turn<Result>(run: () => Result, call?: string): Result {
    this.activity.request("call", call);
    return this.furtherTurn(run);
  }

  /** The same for what a call brings about later: it is one request. */
  protected furtherTurn<Result>(run: () => Result): Result {
    try {
      return this.activity.during(this.#server.outbox.turn(run));
    } finally {
      this.#rest();
    }
  }

  /** Called when it is known what woke this instance. */
  protected onWoken?(wake: Wake): void;

  /** A session's last sign of life, in milliseconds since 1970. */
  protected lastSeenAtMs(session: Session): number {
    return Math.max(session.seenAtMs, this.#lastPongAtMs(session) ?? 0);
  }

  /** An input was dealt with. */
  #rest(): void {
    this.activity.settle();
    // An alarm is known by what it met, and so a moment later.
    const { afterTurn, server } = this.parts;
    if (this.activity.wake && afterTurn) server.outbox.turn(() => afterTurn.forEach((run) => run()));
  }

  /**
   * Closes all sessions, erases what is stored and starts again, empty; where that fails the platform resets the object as it was.
   * @param prepare says goodbye, and returns what stores what is left to the next life
   */
  protected async erase(prepare?: () => Leave | undefined): Promise<void> {
    const failure = this.#beginAnew(prepare).then(undefined, (error: unknown) => ({ error }));
    await this.ctx.blockConcurrencyWhile(async () => {
      const failed = await failure;
      if (failed) throw failed.error;
      await this.ctx.storage.deleteAlarm();
      await this.#clock.wake();
    });
  }

  /** In one go: calls come in before the runtime holds them back, and the former life answers none. */
  async #beginAnew(prepare?: () => Leave | undefined): Promise<void> {
    const leave = prepare?.();
    for (const session of this.#server.sessions.values()) this.#server.close(session, CLOSINGS.restart);
    this.#clock.stop();
    const erased = eraseStored(this.ctx.storage, leave);
    try {
      this.#begin();
      this.#server.wake();
    } finally {
      await erased;
    }
  }

  /** An event of another room's server. Called by RPC. */
  async hear(event: ServerSideEvent): Promise<ServerSideAnswer> {
    const { server } = this.parts;
    return this.turn(() => server.hear?.(event) ?? { ok: false, reason: "it has no namespaces" }, "hear");
  }

  async #callRoom(room: string, event: Omit<ServerSideEvent, "from">): Promise<ServerSideAnswer> {
    const { rooms } = this.parts;
    if (!rooms) throw new Error("the application gives no `rooms`");
    return rooms.getByName(room).hear({ ...event, from: this.ctx.id.name! });
  }

  override fetch(request: Request): Promise<Response> {
    return this.activity.during(this.#router.fetch(request) as Promise<Response>);
  }

  #factsOf(request: Request): UpgradeFacts {
    const facts = factsOf(request);
    const cause = this.parts.wakeCause?.({ sid: "", handshake: handshakeOf(facts) });
    this.activity.connection(request, facts.sid, cause);
    return facts;
  }

  // ---- the platform's events -----------------------------------------------------------------------------

  override webSocketMessage(ws: WebSocket, message: string | ArrayBuffer): void | Promise<void> {
    const session = this.#sessionOf(ws);
    this.#wokenBy("message", session);
    // The WebSocket of an upgrade from a polling session that died with the object's last instance.
    if (!session) return finishClose(this.ctx, ws, CLOSINGS.protocolViolation.code, "session unknown");
    const frame: Frame = typeof message === "string" ? message : new Uint8Array(message);
    // No await before the frame is dealt with: the next one of this socket comes as soon as we let go.
    return this.activity.during(this.#input(() => this.#server.receive(session, frame)));
  }

  override webSocketClose(ws: WebSocket, code: number, reason: string): void {
    this.#lose(ws, TRANSPORT_CLOSE);
    finishClose(this.ctx, ws, code, reason);
  }

  override webSocketError(ws: WebSocket): void {
    this.#lose(ws, TRANSPORT_ERROR);
    finishClose(this.ctx, ws, CODE_OF_NONE, "");
  }

  #lose(ws: WebSocket, closing: Closing): void {
    gone(ws);
    const session = this.#sessionOf(ws);
    this.#wokenBy("close", session);
    if (session) this.#input(() => this.#server.lost(session, closing));
    this.#forget(ws, session);
  }

  #wokenBy(cause: "message" | "close", session: Session | undefined): void {
    const own = session && this.parts.wakeCause?.(session);
    if (own === undefined) this.activity.woken(cause);
    else this.activity.woken(own, cause);
  }

  override async alarm(): Promise<void> {
    this.#clock.alarmFired();
    const met = this.#tick();
    this.activity.request("alarm", this.#metBefore ?? met);
    await this.#clock.arm();
    this.#rest();
  }

  /**
   * Runs what is due. After a sleep a heartbeat is reckoned from its answer, so the alarm comes some milliseconds before it.
   * @returns whose moment it was, if anybody's
   */
  #tick(): string | undefined {
    const due = this.#server.deadlines.dueName(Date.now(), TIMER_MS_MAX);
    const [first] = this.#input(() => this.#server.tick()) ?? [];
    return due ?? first;
  }

  /** No failure of ours reaches the runtime or another session. */
  #input<Result>(run: () => Result): Result | undefined {
    try {
      return run();
    } catch (error) {
      this.report("an input could not be dealt with", error);
      return undefined;
    } finally {
      this.#rest();
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
    accept(this.ctx, ws, facts.line);
    const { isExtended = false } = facts;
    this.#server.open(handshakeOf(facts), "websocket", { isExtended, link: (session) => this.#link(session, ws) });
    return undefined;
  }

  /** A WebSocket for a session that is carried by long-polling so far. */
  #probe(ws: WebSocket, sid: string, facts: UpgradeFacts): Response | undefined {
    const session = this.#server.sessions.get(sid);
    if (!session) return refuse("unknownSid");
    const refusal = refuseAddress(this.parts, facts.address, { isArriving: true });
    if (refusal) return refusal;
    const probe = this.#server.openProbe(session, facts.isExtended);
    // Hibernating even where it is closed at once: a peer that never answers the closing must not keep us awake.
    accept(this.ctx, ws, facts.line);
    if (!probe) {
      // As on Node: a client sees the reason in the closing, which it could not in a refused upgrade.
      finishClose(this.ctx, ws, CLOSINGS.protocolViolation.code, "already upgraded");
      this.#sessions.set(ws, this.#server.turnAway(handshakeOf(facts)));
      strayed(ws, facts.address);
      return undefined;
    }
    ws.serializeAttachment(PROBE);
    this.#link(probe, ws);
    return undefined;
  }

  #poll({ sid, ...facts }: UpgradeFacts): Response | Promise<Response> {
    if (sid !== undefined) return this.#polling.poll(sid);
    return this.#refuse(facts) ?? this.#polling.open(handshakeOf(facts), facts.isJavaScript ?? false);
  }

  /** The answer to who may not open a connection at all. */
  #refuse({ address, identity }: UpgradeFacts): Response | undefined {
    const full = refuseAddress(this.parts, address, { isStranger: identity === undefined });
    return full ?? (identity && this.parts.turnAway?.(identity));
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
    if ("isProbe" in record) return finishClose(this.ctx, ws, CLOSINGS.protocolViolation.code, "session unknown");
    if (record.v === 1) this.#server.restore(record, (session) => this.#link(session, ws));
    else finishClose(this.ctx, ws, CLOSINGS.restart.code, CLOSINGS.restart.reason);
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
          for (const session of effect.sessions) sendAll(this.#webSockets.get(session), effect.frames);
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
    // The server is to know when it is gone (LIM-1).
    if (session.isLingering) this.#sessions.set(ws, session);
    if (session.probeOf) strayed(ws, session.handshake.address);
    finishClose(this.ctx, ws, code, reason);
  }

  #save(session: Session): void {
    const ws = this.#webSockets.get(session);
    if (!ws) return;
    try {
      attach(ws, this.#server.record(session));
    } catch (error) {
      this.report("the state of a session does not fit its attachment", error);
      this.#server.close(session, CLOSINGS.stateTooLarge);
    }
  }

  protected report(problem: string, error: unknown): void {
    this.activity.meter.count("problems:room");
    logProblem("room.problem", problem, error, { room: this.ctx.id.name ?? this.ctx.id.toString() });
  }
}
