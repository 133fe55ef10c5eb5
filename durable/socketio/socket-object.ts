// The shell of a server of sessions: passes hibernating WebSockets and alarms to it, carries out its effects, and stores sessions in
// attachments. Contains no rule of any application. Extended by the classes of Durable Objects.
// Source: https://developers.cloudflare.com/durable-objects/best-practices/websockets/
import { DurableObject } from "cloudflare:workers";

import { isRoomName } from "../../src/protocol/room-name.ts";
import type { ServerSideRpc } from "../../src/rpc/server-side.ts";
import { logProblem } from "../../src/settings/log.ts";
import { CLOSINGS, TRANSPORT_CLOSE, TRANSPORT_ERROR, type Closing } from "../../src/socketio/wire/closings.ts";
import { ENGINE_NOOP, ENGINE_PONG, type Frame } from "../../src/socketio/wire/engine-io.ts";
import type { Effect } from "../../src/socketio/engine/effects.ts";
import type { Session } from "../../src/socketio/engine/session.ts";
import { NO_METER, type Meter } from "../../src/socketio/engine/traffic.ts";
import type { ServerSideAnswer, ServerSideEvent } from "../../src/socketio/server/server-side.ts";
import { Activity, type Wake } from "./activity.ts";
import type { Application, CreateServer } from "./application.ts";
import { ConnectionRequests } from "./connection-requests.ts";
import { eraseStored, type StoreAfterErase } from "./erasing.ts";
import { newId } from "./new-id.ts";
import { NewerData, putOffAlarm } from "./stored-format.ts";
import { AWAKE_WAIT_MS_MAX, WakeClock } from "./wake-clock.ts";
import { CODE_OF_NONE, UNJOINED, WebSockets } from "./web-sockets.ts";

export abstract class SocketObject<Env, Parts extends Application = Application>
  extends DurableObject<Env>
  implements ServerSideRpc
{
  readonly #create: CreateServer<Env, Parts>;
  readonly #storage: DurableObjectStorage;
  /** Set where the data is of a newer version: then the object does nothing. */
  #newer: NewerData | undefined;
  #started: Parts | undefined;
  #clock!: WakeClock;
  #requests!: ConnectionRequests;
  readonly #webSockets: WebSockets;
  /** The deadline that a timer ran before the alarm that woke this instance. */
  #ranBeforeAlarm: string | undefined;
  /** Counts the work of this instance. */
  protected readonly activity: Activity;

  /**
   * @param meter counts what the object does, for an application with metrics
   * @param storage that of the object, counted by the same
   */
  constructor(
    ctx: DurableObjectState,
    env: Env,
    create: CreateServer<Env, Parts>,
    {
      meter = NO_METER,
      storage = ctx.storage,
    }: { readonly meter?: Meter; readonly storage?: DurableObjectStorage } = {},
  ) {
    super(ctx, env);
    this.activity = new Activity(
      meter,
      (wake) => this.onWoken?.(wake),
      () => this.#rest(),
    );
    this.#create = create;
    this.#storage = storage;
    this.#webSockets = new WebSockets(ctx);
    // The platform runs this once the constructors and class fields of all subclasses are done, and before it delivers any event.
    // If it fails, the platform resets the object, and the event that woke it fails with the error.
    ctx.blockConcurrencyWhile(() => this.#start()).catch(() => {});
  }

  /**
   * Called once per instance before the server starts and any socket is restored; events wait for it. If it fails, so does the event that
   * woke the object, and the next event makes a new instance.
   */
  protected prepare?(): void | Promise<void>;

  async #start(): Promise<void> {
    await this.prepare?.();
    try {
      this.#begin();
    } catch (error) {
      if (!(error instanceof NewerData)) throw error;
      this.#newer = error;
      this.#webSockets.sendAway();
      return;
    }
    for (const ws of this.ctx.getWebSockets()) this.#restore(ws);
    this.#parts.server.wake();
    await this.#clock.wake({ mayHaveDied: this.#webSockets.isEmpty });
  }

  /**
   * Makes a server over the stored data, without connections yet.
   * @throws NewerData
   */
  #begin(): void {
    const former = this.#started?.server;
    const parts = this.#create(this.ctx, this.env, {
      now: () => Date.now(),
      newId,
      // The id of the object is as good as random, and never changes.
      phase: Number.parseInt(this.ctx.id.toString().slice(0, 8), 16) / 2 ** 32,
      apply: (effects) => this.#apply(effects),
      lastPongAtMs: (session) => this.#webSockets.lastPongAtMs(session),
      report: (problem, error) => this.report(problem, error),
      rooms: { isName: isRoomName, call: (room, event) => this.#callRoom(room, event) },
      meter: this.activity.meter,
      storage: this.#storage,
      unjoined: UNJOINED,
    });
    this.#started = parts;
    const { server, limits } = parts;
    const { activity } = this;
    this.#requests = new ConnectionRequests(parts, { webSockets: this.#webSockets, activity, former });
    const tick = (): void => {
      const ran = this.#tick();
      // A timer of an object that an alarm has just woken may be sooner than that alarm.
      if (!this.activity.wake) this.#ranBeforeAlarm ??= ran;
    };
    this.#clock = new WakeClock(this.#storage, server.deadlines, tick, {
      waiting: limits.waiting,
      hold: () => this.activity.hold(),
      rest: () => this.#rest(),
    });
    // EIO-7: the runtime answers a client's pong without waking the object, and notes the time. An object with a ping interval so short that
    // it stays awake gains nothing by that, and spares its clients the noop.
    if (limits.pingIntervalMs > AWAKE_WAIT_MS_MAX) {
      this.ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(ENGINE_PONG, ENGINE_NOOP));
    } else this.ctx.setWebSocketAutoResponse();
  }

  /** The parts that the application made. @throws NewerData; Error before the server has started, as in `prepare` */
  protected get parts(): Parts {
    return this.#parts;
  }

  get #parts(): Parts {
    if (this.#newer) throw this.#newer;
    if (!this.#started) throw new Error("the server of this object has not started yet");
    return this.#started;
  }

  /**
   * Runs a call by RPC as a turn.
   * @param call its name in the metrics, as a cause of waking
   */
  protected turn<Result>(run: () => Result, call?: string): Result {
    this.activity.request("call", call);
    return this.furtherTurn(run);
  }

  /** The same for a later step of a call, which is no further request. */
  protected furtherTurn<Result>(run: () => Result): Result {
    try {
      return this.activity.during(this.#parts.server.effects.turn(run));
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
    // Not while an alarm runs its deadlines: what woke the object is known after that.
    const { afterTurn, server } = this.parts;
    if (this.activity.wake && afterTurn) server.effects.turn(() => afterTurn.forEach((run) => run()));
  }

  /**
   * Closes all connections (1012: clients come back), erases the storage and starts the server again, empty: namespaces get `onStart` anew,
   * the place to forget what they hold in memory. If it fails, the platform resets the object as it was.
   * @param prepare called before the sessions are closed; the function that it returns stores data after the erasure
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

  /** Synchronous up to the first await, because calls arrive until the runtime blocks them, and the former server must answer none. */
  async #eraseAndBegin(prepare?: () => StoreAfterErase | undefined): Promise<void> {
    const storeAfter = prepare?.();
    for (const session of this.#parts.server.sessions.values()) this.#parts.server.close(session, CLOSINGS.restart);
    this.#parts.server.stop();
    this.#clock.stop();
    const erased = eraseStored(this.ctx.storage, storeAfter);
    try {
      this.#begin();
      this.#parts.server.wake();
    } finally {
      await erased;
    }
  }

  /** Called by RPC. */
  async receiveServerSideEvent(event: ServerSideEvent): Promise<ServerSideAnswer> {
    const { server } = this.parts;
    const noNamespaces: ServerSideAnswer = { ok: false, reason: "it has no namespaces" };
    return this.turn(() => server.receiveServerSideEvent?.(event) ?? noNamespaces, "server-side-event");
  }

  async #callRoom(room: string, event: Omit<ServerSideEvent, "from">): Promise<ServerSideAnswer> {
    const { rooms } = this.parts;
    if (!rooms) throw new Error("the application gives no `rooms`");
    return rooms.getByName(room).receiveServerSideEvent({ ...event, from: this.ctx.id.name! });
  }

  override fetch(request: Request): Promise<Response> {
    if (this.#newer) return Promise.reject(this.#newer);
    return this.activity.during(this.#requests.fetch(request));
  }

  // ---- the platform's events -----------------------------------------------------------------------------

  override webSocketMessage(ws: WebSocket, message: string | ArrayBuffer): void | Promise<void> {
    if (this.#newer) return;
    const session = this.#sessionOf(ws);
    this.#wokenBy("message", session);
    // The WebSocket of an upgrade whose polling session ended with the last instance of the object.
    if (!session) return this.#webSockets.finishClose(ws, CLOSINGS.protocolViolation.code, "session unknown");
    const frame: Frame = typeof message === "string" ? message : new Uint8Array(message);
    // No await before the frame is handled: the next frame of this WebSocket may arrive at the first await.
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
    if (this.#newer) return;
    this.#webSockets.onGone(ws);
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
    if (this.#newer) return putOffAlarm(this.ctx.storage);
    this.#clock.alarmFired();
    const ran = this.#tick();
    this.activity.request("alarm", this.#ranBeforeAlarm ?? ran);
    await this.#clock.arm();
    this.#rest();
  }

  /**
   * Runs the deadlines that are due. After sleep the next ping is due an interval after the last pong, so the alarm may come some
   * milliseconds before it.
   * @returns the name of the deadline that was due, if any
   */
  #tick(): string | undefined {
    const due = this.#parts.server.deadlines.dueName(Date.now(), AWAKE_WAIT_MS_MAX);
    const [first] = this.#input(() => this.#parts.server.tick()) ?? [];
    return due ?? first;
  }

  /** Runs an input. No failure reaches the runtime or another session. */
  #input<Result>(run: () => Result): Result | undefined {
    try {
      return run();
    } catch (error) {
      this.report("an input failed", error);
      return undefined;
    } finally {
      this.#rest();
    }
  }

  // ---- sockets ---------------------------------------------------------------------------------------------

  #restore(ws: WebSocket): void {
    this.#webSockets.restore(ws, (record) =>
      this.#parts.server.restore(record, (session) => this.#webSockets.link(session, ws)),
    );
  }

  #sessionOf(ws: WebSocket): Session | undefined {
    const session = this.#webSockets.sessionOf(ws);
    if (session) return session;
    // If a closing wakes the object, `getWebSockets` does not return the closing WebSocket.
    this.#restore(ws);
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
