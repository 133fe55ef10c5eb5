// The shell around a server of sessions: hibernating WebSockets in, effects out, attachments, the alarm. No rule of any application is
// in here. Extended by the classes of Durable Objects. Source:
// https://developers.cloudflare.com/durable-objects/best-practices/websockets/
import { DurableObject } from "cloudflare:workers";

import { isRoomName } from "../../src/protocol/room-name.ts";
import { logProblem } from "../../src/settings/log.ts";
import { CLOSINGS, TRANSPORT_CLOSE, TRANSPORT_ERROR, type Closing } from "../../src/socketio/wire/closings.ts";
import { ENGINE_NOOP, ENGINE_PONG, type Frame } from "../../src/socketio/wire/engine-io.ts";
import type { Effect } from "../../src/socketio/engine/outbox.ts";
import type { Session } from "../../src/socketio/engine/session.ts";
import type { ServerSideAnswer, ServerSideEvent } from "../../src/socketio/server/server-side.ts";
import { Activity, type Wake } from "./activity.ts";
import type { Application, CreateServer } from "./application.ts";
import { ConnectionRequests } from "./connection-requests.ts";
import { countedStorage } from "./counted-storage.ts";
import { eraseStored, type StoreAfterErase } from "./erasing.ts";
import { newId, phaseOf } from "./object-identity.ts";
import { roomTokens } from "./room-tokens.ts";
import { AWAKE_WAIT_MS_MAX, WakeClock } from "./wake-clock.ts";
import { CODE_OF_NONE, UNJOINED, WebSockets } from "./web-sockets.ts";

export abstract class SocketObject<Env, Parts extends Application = Application> extends DurableObject<Env> {
  readonly #create: CreateServer<Env, Parts>;
  #parts!: Parts;
  #clock!: WakeClock;
  #requests!: ConnectionRequests;
  readonly #webSockets: WebSockets;
  /** The deadline that a timer ran before the alarm that woke this instance. */
  #metBefore: string | undefined;
  /** Counts the work of this instance. */
  protected readonly activity = new Activity(
    (wake) => this.onWoken?.(wake),
    () => this.#rest(),
  );

  constructor(ctx: DurableObjectState, env: Env, create: CreateServer<Env, Parts>) {
    super(ctx, env);
    this.#create = create;
    this.#webSockets = new WebSockets(ctx);
    this.#begin();
    this.#restore();
    void ctx.blockConcurrencyWhile(() => this.#clock.wake({ mayHaveDied: this.#webSockets.isEmpty }));
  }

  /** Makes a server over the stored data, without connections yet. */
  #begin(): void {
    const former = this.#parts?.server;
    this.#parts = this.#create(this.ctx, this.env, {
      now: () => Date.now(),
      newId,
      phase: phaseOf(this.ctx.id),
      apply: (effects) => this.#apply(effects),
      lastPongAtMs: (session) => this.#webSockets.lastPongAtMs(session),
      report: (problem, error) => this.report(problem, error),
      tokens: roomTokens(this.env as object, this.ctx.id.name),
      rooms: { isName: isRoomName, call: (room, event) => this.#callRoom(room, event) },
      meter: this.activity.meter,
      unjoined: UNJOINED,
    });
    const { server, limits } = this.#parts;
    const { activity } = this;
    this.#requests = new ConnectionRequests(this.#parts, { webSockets: this.#webSockets, activity, former });
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
    // The runtime answers a client's pong by itself and notes the time; the object does not wake for it. EIO-7.
    // An object that waits awake for its next ping gains nothing by that, and spares its clients the noop.
    if (limits.pingIntervalMs > AWAKE_WAIT_MS_MAX) {
      this.ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(ENGINE_PONG, ENGINE_NOOP));
    } else this.ctx.setWebSocketAutoResponse();
  }

  /** The parts that the application made. */
  protected get parts(): Parts {
    return this.#parts;
  }

  /**
   * Runs a call from outside, by neither a socket nor the clock.
   * @param call its name among the causes of the object's waking
   */
  protected turn<Result>(run: () => Result, call?: string): Result {
    this.activity.request("call", call);
    return this.furtherTurn(run);
  }

  /** The same for a later step of a call, which is one request. */
  protected furtherTurn<Result>(run: () => Result): Result {
    try {
      return this.activity.during(this.#parts.server.outbox.turn(run));
    } finally {
      this.#rest();
    }
  }

  /** Called once, with the first input of this instance. */
  protected onWoken?(wake: Wake): void;

  /** A session's last sign of life, in milliseconds since 1970. */
  protected lastSeenAtMs(session: Session): number {
    return Math.max(session.seenAtMs, this.#webSockets.lastPongAtMs(session) ?? 0);
  }

  /** Called after each input. */
  #rest(): void {
    this.activity.settle();
    // The cause of an alarm is the deadline that it met, so it is known a moment later.
    const { afterTurn, server } = this.parts;
    if (this.activity.wake && afterTurn) server.outbox.turn(() => afterTurn.forEach((run) => run()));
  }

  /**
   * Closes all sessions, erases the storage and starts again, empty; where that fails the platform resets the object as it was.
   * @param prepare says goodbye; the function that it returns stores the data of the next life
   */
  protected async erase(prepare?: () => StoreAfterErase | undefined): Promise<void> {
    const failure = this.#eraseAndBegin(prepare).then(undefined, (error: unknown) => ({ error }));
    await this.ctx.blockConcurrencyWhile(async () => {
      const failed = await failure;
      if (failed) throw failed.error;
      await this.ctx.storage.deleteAlarm();
      await this.#clock.wake();
    });
  }

  /** Synchronous up to the first await: calls arrive before the runtime holds them back, and the former server must answer none. */
  async #eraseAndBegin(prepare?: () => StoreAfterErase | undefined): Promise<void> {
    const storeAfter = prepare?.();
    for (const session of this.#parts.server.sessions.values()) this.#parts.server.close(session, CLOSINGS.restart);
    this.#clock.stop();
    const erased = eraseStored(this.ctx.storage, storeAfter);
    try {
      this.#begin();
      this.#parts.server.wake();
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
    return this.activity.during(this.#requests.fetch(request));
  }

  // ---- the platform's events -----------------------------------------------------------------------------

  override webSocketMessage(ws: WebSocket, message: string | ArrayBuffer): void | Promise<void> {
    const session = this.#sessionOf(ws);
    this.#wokenBy("message", session);
    // The WebSocket of an upgrade from a polling session that died with the object's last instance.
    if (!session) return this.#webSockets.finishClose(ws, CLOSINGS.protocolViolation.code, "session unknown");
    const frame: Frame = typeof message === "string" ? message : new Uint8Array(message);
    // No await before the frame is handled: the next one of this socket arrives at the first await.
    return this.activity.during(this.#input(() => this.#parts.server.receive(session, frame)));
  }

  override webSocketClose(ws: WebSocket, code: number, reason: string): void {
    this.#lose(ws, TRANSPORT_CLOSE);
    this.#webSockets.finishClose(ws, code, reason);
  }

  override webSocketError(ws: WebSocket): void {
    this.#lose(ws, TRANSPORT_ERROR);
    this.#webSockets.finishClose(ws, CODE_OF_NONE, "");
  }

  #lose(ws: WebSocket, closing: Closing): void {
    this.#webSockets.gone(ws);
    const session = this.#sessionOf(ws);
    this.#wokenBy("close", session);
    if (session) this.#input(() => this.#parts.server.lost(session, closing));
    this.#webSockets.forget(ws);
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
   * Runs the deadlines that are due. After a sleep a heartbeat is reckoned from its answer, so the alarm comes some milliseconds before it.
   * @returns the name of the deadline that was due, if any
   */
  #tick(): string | undefined {
    const due = this.#parts.server.deadlines.dueName(Date.now(), AWAKE_WAIT_MS_MAX);
    const [first] = this.#input(() => this.#parts.server.tick()) ?? [];
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

  #restore(): void {
    for (const ws of this.ctx.getWebSockets()) this.#restoreOne(ws);
    this.#parts.server.wake();
  }

  #restoreOne(ws: WebSocket): void {
    this.#webSockets.restore(ws, (record) =>
      this.#parts.server.restore(record, (session) => this.#webSockets.link(session, ws)),
    );
  }

  #sessionOf(ws: WebSocket): Session | undefined {
    const session = this.#webSockets.sessionOf(ws);
    if (session) return session;
    // An object that is woken by a closing does not find the closing socket among its sockets.
    this.#restoreOne(ws);
    return this.#webSockets.sessionOf(ws);
  }

  // ---- effects ---------------------------------------------------------------------------------------------

  #apply(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.type) {
        case "send":
          for (const session of effect.sessions) this.#webSockets.send(session, effect.frames);
          break;
        case "answer-poll":
          this.#requests.polling.answer(effect.session, effect.payload);
          break;
        case "refuse-poll":
          this.#requests.polling.refuse(effect.session);
          break;
        case "adopt":
          this.#webSockets.adopt(effect.session, effect.probe);
          this.#save(effect.session);
          break;
        case "close":
          this.#webSockets.close(effect.session, effect.closing);
          break;
        case "save":
          this.#save(effect.session);
          break;
      }
    }
  }

  #save(session: Session): void {
    try {
      this.#webSockets.save(session);
    } catch (error) {
      this.report("the state of a session does not fit its attachment", error);
      this.#parts.server.close(session, CLOSINGS.stateTooLarge);
    }
  }

  protected report(problem: string, error: unknown): void {
    this.activity.meter.count("problems:room");
    logProblem("room.problem", problem, error, { room: this.ctx.id.name ?? this.ctx.id.toString() });
  }
}
