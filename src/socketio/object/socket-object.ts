// The shell of a server of sessions: passes hibernating WebSockets and alarms to it, carries out its effects, and stores sessions in
// attachments. Contains no rule of any application. Extended by the classes of Durable Objects.
// Source: https://developers.cloudflare.com/durable-objects/best-practices/websockets/
import { DurableObject } from "cloudflare:workers";

import type { ServerSideRpc } from "../../rpc/server-side.ts";
import { CLOSINGS, TRANSPORT_CLOSE, TRANSPORT_ERROR, type Closing } from "../wire/closings.ts";
import { ENGINE_NOOP, ENGINE_PONG, type Frame } from "../wire/engine-io.ts";
import type { Effect } from "../engine/effects.ts";
import type { Session } from "../engine/session.ts";
import { NO_METER, type Meter } from "../engine/backpressure.ts";
import type { ServerSideAnswer, ServerSideEvent } from "../server/server-side.ts";
import type { Wake } from "./activity.ts";
import type { Application, CreateServer } from "./application.ts";
import { ConnectionRequests } from "./connection-requests.ts";
import { eraseStored, type StoreAfterErase } from "./erasing.ts";
import { Internals } from "./internals.ts";
import { newId } from "./new-id.ts";
import { RoomStubs } from "./room-stubs.ts";
import { NewerData, putOffAlarm } from "./stored-format.ts";
import { AWAKE_WAIT_MS_MAX, WakeClock } from "./wake-clock.ts";
import { CODE_OF_NONE, UNJOINED, WebSockets } from "./web-sockets.ts";

/** The parts that the classes of this repository give their objects. */
interface Kind {
  /** Counts what the object does, for an application with metrics. */
  readonly meter?: Meter;
  /** That of the object, counted by the same. */
  readonly storage?: DurableObjectStorage;
  /** Called once, with the first input of this instance. */
  readonly onWoken?: (wake: Wake) => void;
}

export abstract class SocketObject<Env> extends DurableObject<Env> implements ServerSideRpc {
  readonly #create: CreateServer;
  readonly #storage: DurableObjectStorage;
  readonly #internals: Internals<Application>;
  #clock!: WakeClock;
  #requests!: ConnectionRequests;
  readonly #webSockets: WebSockets;
  readonly #probes = new Set<Session>();
  readonly #rooms = new RoomStubs(
    (room) => this.#stubOf(room),
    () => this.ctx.id.name!,
  );
  /** The deadline that a timer ran before the alarm that woke this instance. */
  #ranBeforeAlarm: string | undefined;

  /** @internal */
  constructor(
    ctx: DurableObjectState,
    env: Env,
    create: CreateServer,
    { meter = NO_METER, storage = ctx.storage, onWoken }: Kind = {},
  ) {
    super(ctx, env);
    this.#webSockets = new WebSockets(ctx);
    this.#internals = new Internals(this, ctx, { meter, webSockets: this.#webSockets, onWoken });
    this.#create = create;
    this.#storage = storage;
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
      this.#internals.newer = error;
      this.#webSockets.sendAway();
      return;
    }
    if (this.#parts.limits.staysAwake) this.#webSockets.sendAway();
    else for (const ws of this.ctx.getWebSockets()) this.#restore(ws);
    this.#parts.server.wake();
    await this.#parts.settle?.();
    await this.#clock.wake({ mayHaveDied: this.#webSockets.isEmpty });
  }

  /**
   * Makes a server over the stored data, without connections yet.
   * @throws NewerData
   */
  #begin(): void {
    const { activity } = this.#internals;
    const former = this.#internals.started?.server;
    const parts = this.#create({
      now: () => Date.now(),
      newId,
      // The id of the object is as good as random, and never changes.
      phase: Number.parseInt(this.ctx.id.toString().slice(0, 8), 16) / 2 ** 32,
      apply: (effects) => this.#apply(effects),
      lastPongAtMs: (session) => this.#webSockets.lastPongAtMs(session),
      report: (problem, error) => this.#internals.report(problem, error),
      rooms: this.#rooms,
      meter: activity.meter,
      storage: this.#storage,
      unjoined: UNJOINED,
      probes: this.#probes,
    });
    this.#internals.started = parts;
    const { server, limits } = parts;
    this.#requests = new ConnectionRequests(parts, { webSockets: this.#webSockets, activity, former });
    const tick = (): void => {
      const ran = this.#tick();
      // A timer of an object that an alarm has just woken may be sooner than that alarm.
      if (!activity.wake) this.#ranBeforeAlarm ??= ran;
    };
    this.#clock = new WakeClock(this.#storage, server.deadlines, tick, {
      hold: () => activity.hold(),
      rest: () => this.#internals.rest(),
    });
    // EIO-7: the runtime answers a client's pong without waking the object, and notes the time. An object with a ping
    // interval so short that it stays awake, or one that stays awake anyway, gains nothing by that, and spares its clients the noop.
    if (limits.pingIntervalMs > AWAKE_WAIT_MS_MAX && !limits.staysAwake) {
      this.ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(ENGINE_PONG, ENGINE_NOOP));
    } else this.ctx.setWebSocketAutoResponse();
  }

  get #parts(): Application {
    return this.#internals.parts;
  }

  /**
   * Closes all connections (1012: clients come back), erases the storage and starts the server again, empty: namespaces
   * get `onStart` again, the place to clear their memory. If it fails, the platform resets the object as it was.
   */
  protected erase(): Promise<void>;
  /**
   * @param prepare called before the sessions are closed; the function that it returns stores data after the erasure
   * @internal
   */
  protected erase(prepare: () => StoreAfterErase | undefined): Promise<void>;
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
    const { server } = this.#parts;
    const noNamespaces: ServerSideAnswer = { ok: false, reason: "it has no namespaces" };
    return this.#internals.turn(() => server.receiveServerSideEvent?.(event) ?? noNamespaces, "server-side-event");
  }

  #stubOf(room: string): ServerSideRpc {
    const { rooms } = this.#parts;
    if (!rooms) throw new Error("the application gives no `rooms`");
    return rooms.getByName(room);
  }

  /**
   * Stops all timers, so that a test can evict an object whose deadlines follow each other so closely that it never sleeps. The kit
   * (test/kit/objects.ts) calls it. A symbol, because Workers and clients can call any other method.
   * @internal
   */
  [Symbol.for("parley.stopTimers")](): void {
    // One with newer data has no clock.
    if (!this.#internals.newer) this.#clock.stop();
  }

  override fetch(request: Request): Promise<Response> {
    if (this.#internals.newer) return Promise.reject(this.#internals.newer);
    return this.#internals.activity.during(this.#requests.fetch(request));
  }

  // ---- the platform's events -----------------------------------------------------------------------------

  override webSocketMessage(ws: WebSocket, message: string | ArrayBuffer): void | Promise<void> {
    if (this.#internals.newer) return;
    return this.#withSession(ws, "message", (session) => {
      // The WebSocket of an upgrade whose polling session ended with the last instance of the object.
      if (!session) return this.#webSockets.finishClose(ws, CLOSINGS.protocolViolation.code, "session unknown");
      const frame: Frame = typeof message === "string" ? message : new Uint8Array(message);
      // No await before the frame is handled: the next frame of this WebSocket may arrive at the first await.
      return this.#internals.activity.during(this.#internals.input(() => this.#parts.server.receive(session, frame)));
    });
  }

  override webSocketClose(ws: WebSocket, code: number, reason: string): void | Promise<void> {
    return this.#lose(ws, TRANSPORT_CLOSE, code, reason);
  }

  override webSocketError(ws: WebSocket): void | Promise<void> {
    return this.#lose(ws, TRANSPORT_ERROR, CODE_OF_NONE, "");
  }

  #lose(ws: WebSocket, closing: Closing, code: number, reason: string): void | Promise<void> {
    if (this.#internals.newer) return this.#webSockets.finishClose(ws, code, reason);
    this.#webSockets.onGone(ws);
    return this.#withSession(ws, "close", (session) => {
      if (session) this.#internals.input(() => this.#parts.server.lost(session, closing));
      this.#webSockets.forget(ws);
      this.#webSockets.finishClose(ws, code, reason);
    });
  }

  /**
   * Runs what an event of a WebSocket does with its session. If a closing wakes the object, `getWebSockets` does not return the closing
   * WebSocket: its session is restored now, and what it needs besides may take a moment.
   */
  #withSession(
    ws: WebSocket,
    cause: "message" | "close",
    run: (session: Session | undefined) => void | Promise<void>,
  ): void | Promise<void> {
    const known = this.#webSockets.sessionOf(ws);
    if (!known) this.#restore(ws);
    const session = known ?? this.#webSockets.sessionOf(ws);
    this.#wokenBy(cause, session);
    const { settle } = this.#parts;
    return session && !known && settle ? settle().then(() => run(session)) : run(session);
  }

  #wokenBy(cause: "message" | "close", session: Session | undefined): void {
    const own = session && this.#parts.wakeCause?.(session);
    if (own === undefined) this.#internals.activity.woken(cause);
    else this.#internals.activity.woken(own, cause);
  }

  override async alarm(): Promise<void> {
    if (this.#internals.newer) return putOffAlarm(this.ctx.storage);
    this.#clock.alarmFired();
    const ran = this.#tick();
    this.#internals.activity.request("alarm", this.#ranBeforeAlarm ?? ran);
    await this.#clock.arm();
    this.#internals.rest();
  }

  /**
   * Runs the deadlines that are due. After sleep the next ping is due an interval after the last pong, so the alarm may come some
   * milliseconds before it.
   * @returns the name of the deadline that was due, if any
   */
  #tick(): string | undefined {
    const due = this.#parts.server.deadlines.dueName(Date.now(), AWAKE_WAIT_MS_MAX);
    const [first] = this.#internals.input(() => this.#parts.server.tick()) ?? [];
    return due ?? first;
  }

  // ---- sockets ---------------------------------------------------------------------------------------------

  #restore(ws: WebSocket): void {
    // What an awake object finds are connections of an earlier instance, which died.
    if (this.#parts.limits.staysAwake) return;
    this.#webSockets.restore(ws, (record) =>
      this.#parts.server.restore(record, (session) => this.#webSockets.pair(session, ws)),
    );
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
    if (this.#parts.limits.staysAwake) return;
    try {
      this.#webSockets.save(session, this.#parts.limits.maxConnectionsPerIp);
    } catch (error) {
      this.#internals.report("a session could not be stored", error);
      this.#parts.server.close(session, CLOSINGS.stateTooLarge);
    }
  }
}
