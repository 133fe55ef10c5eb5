// One session in one namespace: the API for applications. Its state (socket-state.ts) survives sleep. Other properties that an application
// sets on this object are lost then, and the log names them. Made by sockets.ts.
import { ACK_AWAIT_MS_MAX, ASK_MS_MAX, checkAwaitMs, Unanswered, type Acks } from "./acks.ts";
import type { DisconnectReason } from "../wire/closings.ts";
import type { Frame } from "../wire/engine-io.ts";
import { checkEvent, encodeDisconnect, encodeEvent } from "../wire/socket-io.ts";
import { BroadcastOperator, listed } from "./broadcast.ts";
import type { AnswerOf, EventArgs, EventName, EventsMap, QuestionArgs } from "./events.ts";
import { isReady, type Hub } from "./hub.ts";
import type { NamespaceEntry } from "./namespaces.ts";
import type { Effects } from "../engine/effects.ts";
import type { SocketRecord } from "./records.ts";
import type { SocketSession } from "./socket-session.ts";
import { SocketState } from "./socket-state.ts";

/** The parts of the server that a socket uses. */
export interface SocketHost {
  readonly effects: Effects;
  readonly acks: Acks;
  now(): number;
  /** Its namespace in service: none where that was made on demand and is empty, or the object was erased since. */
  entryOf(socket: Socket): NamespaceEntry | undefined;
  dismissSession(session: SocketSession): void;
  /** Called for a property that the application has set on a socket. */
  reportOwn(name: string): void;
  removeSocket(socket: Socket, reason: DisconnectReason): void;
}

export interface AskOptions {
  /** The name of the continuation (`continuations` of the namespace) that is called with the answer. */
  readonly handler: string;
  /** Plain data that the continuation gets, too. */
  readonly data?: unknown;
  /** More than 0, at most `ASK_MS_MAX`. */
  readonly timeoutMs: number;
}

// oxlint-disable-next-line typescript/no-explicit-any -- the default of an untyped application, as in Socket.IO
export class Socket<Outgoing extends EventsMap = EventsMap, Data = any> extends SocketState<Data> {
  connected = true;
  /** In milliseconds since 1970: until when a client that knows recovery can recover it. 0 while it is connected, and where none can. */
  recoverableUntilMs = 0;
  /** Whether its `onDisconnecting` has begun. */
  isLeaving = false;
  readonly #hub: Hub;
  readonly #host: SocketHost;

  static {
    // Reached by properties that no socket has: those of the application. Known ones pay nothing for it.
    const trap: ProxyHandler<object> = {
      set(_target, name, value, socket: Socket) {
        socket.#host.reportOwn(String(name));
        return Reflect.defineProperty(socket, name, { value, writable: true, enumerable: true, configurable: true });
      },
    };
    Object.setPrototypeOf(SocketState.prototype, new Proxy({}, trap));
  }

  constructor(record: SocketRecord, session: SocketSession, hub: Hub, host: SocketHost) {
    super(record, session, hub, host.effects);
    this.#hub = hub;
    this.#host = host;
  }

  /** The current transport: a WebSocket survives the sleep of its object, long-polling does not. */
  get transport(): "websocket" | "polling" {
    return this.session.polling ? "polling" : "websocket";
  }

  /** The channels that reach this socket: its own id, and those that it joined. Empty after its end. */
  get rooms(): ReadonlySet<string> {
    const isThere = this.#hub.sockets.get(this.id) === (this as Socket);
    return new Set(isThere ? [this.id, ...this.channels] : this.channels);
  }

  join(channel: string | readonly string[]): void {
    for (const name of listed(channel)) this.#hub.join(this, name);
  }

  leave(channel: string): void {
    this.#hub.leave(this, channel);
  }

  emit<Event extends EventName<Outgoing>>(event: Event, ...args: EventArgs<Outgoing, Event>): true {
    return this.#send(event, args);
  }

  #send(event: string, args: readonly unknown[], ackId?: number, isVolatile = false): true {
    checkEvent(event, args);
    const { recovery } = this.#hub;
    // Clients read no offset in an event that asks for an ack: their callback is its last argument.
    const log = this.pid === undefined || ackId !== undefined ? undefined : recovery?.log;
    const isStored = log?.append !== undefined && !isVolatile;
    if (!this.connected) {
      // The client may be back with this id, or come back, and would miss the event.
      const entry = ackId === undefined ? this.#host.entryOf(this as Socket) : undefined;
      const back = entry?.hub.sockets.get(this.id);
      if (back) return back.#send(event, args, undefined, isVolatile);
      if (isStored && this.#host.now() < this.recoverableUntilMs)
        entry?.recovery?.log.append?.({ event, args, channels: [this.id] });
      return true;
    }
    this.#hub.callOutgoing(this as Socket, event, args);
    // Each event to a client that knows recovery ends with an offset, because the client would take another text there for one.
    const stored = isStored ? log.append!({ event, args, channels: [this.id] }) : undefined;
    const withOffset = log ? [...args, recovery!.offset(stored ?? log.lastSeq)] : args;
    // The hook may have ended the socket.
    if (this.connected && (!isVolatile || isReady(this.session)))
      this.#host.effects.send([this.session], encodeEvent(this.nsp, event, withOffset, ackId));
    return true;
  }

  /** Sends missed events, with their offsets. Called by connects.ts. */
  replay(missed: readonly Frame[]): void {
    if (missed.length === 0) return;
    this.#host.effects.send([this.session], missed);
  }

  /** Emits only to clients that can receive at once, this one or those selected next; for others the event is dropped. */
  get volatile(): Pick<this, "emit" | "timeout" | "broadcast" | "to" | "in" | "except"> {
    const emit: this["emit"] = (event, ...args) => this.#send(event, args, undefined, true);
    const timeout: this["timeout"] = (ms) => this.#timeout(ms, true);
    return Object.assign(this.broadcast.volatile, { emit, timeout, broadcast: this.broadcast.volatile });
  }

  /** Accepted for compatibility: compression is a setting of the whole server. */
  compress(_compress: boolean): this {
    return this;
  }

  /** Waits for the client's ack with a limit of its own, in ms; at most `ACK_AWAIT_MS_MAX`. */
  timeout(ms: number): Pick<this, "emitWithAck"> {
    return this.#timeout(ms, false);
  }

  #timeout(ms: number, isVolatile: boolean): Pick<this, "emitWithAck"> {
    return {
      emitWithAck: (event: EventName<Outgoing>, ...args: unknown[]) => this.#emitWithAck(event, args, ms, isVolatile),
    } as Pick<this, "emitWithAck">;
  }

  /**
   * Emits an event and waits for the client's ack, which keeps the object awake meanwhile.
   * Rejects after `ACK_AWAIT_MS_MAX`, or the time given to `timeout`, or when the socket ends.
   */
  emitWithAck<Event extends EventName<Outgoing>>(
    event: Event,
    ...args: QuestionArgs<Outgoing, Event>
  ): Promise<AnswerOf<Outgoing, Event>> {
    return this.#emitWithAck(event, args, ACK_AWAIT_MS_MAX) as Promise<AnswerOf<Outgoing, Event>>;
  }

  async #emitWithAck(event: string, args: readonly unknown[], timeoutMs: number, isVolatile = false): Promise<unknown> {
    checkAwaitMs(timeoutMs);
    const { acks, effects } = this.#host;
    const id = this.#takeAckId(event, args);
    const answer = effects.turn(() => {
      // First, because the ack of an event that could not be sent is not waited for.
      this.#send(event, args, id, isVolatile);
      if (!this.connected) throw new Unanswered("socket has been disconnected");
      return acks.wait(this as Socket, id, this.#host.now() + timeoutMs);
    });
    return (await answer)[0];
  }

  /**
   * Emits an event whose answer may take long: the object may sleep meanwhile. The namespace's continuation `handler` is called exactly
   * once, with `data` and an `AskAnswer`: the client's ack, the timeout, or `disconnected` if the socket ends first. A recovered socket is
   * not asked again. If the object dies with all its connections, neither the continuation nor `onDisconnect` is called.
   * @returns whether the event was emitted; after the end of the socket it is not, and no continuation follows
   * @throws RangeError when `timeoutMs` is out of range, or `args` hold more attachments than a packet carries; nothing was emitted then
   */
  ask<Event extends EventName<Outgoing>>(
    event: Event,
    args: QuestionArgs<Outgoing, Event>,
    { handler, data, timeoutMs }: AskOptions,
  ): boolean {
    if (!(timeoutMs > 0 && timeoutMs <= ASK_MS_MAX))
      throw new RangeError(`ask: timeoutMs is 1 to ${ASK_MS_MAX}, not ${timeoutMs}`);
    const { acks, effects } = this.#host;
    const id = this.#takeAckId(event, args);
    return effects.turn(() => {
      // First, because an event that could not be sent is no ask.
      this.#send(event, args, id);
      if (!this.connected) return false;
      this.setAsks([...this.asks, { id, handler, data, dueMs: this.#host.now() + timeoutMs }]);
      acks.watch(this as Socket);
      return true;
    });
  }

  /** The next id is stored with the session: after sleep, a late ack must not answer a later event. */
  #takeAckId(event: string, args: readonly unknown[]): number {
    checkEvent(event, args);
    this.#host.effects.save(this.session);
    return this.session.takeAckId();
  }

  /** Everyone else in the namespace. */
  get broadcast(): BroadcastOperator<Outgoing, Data> {
    return new BroadcastOperator<Outgoing, Data>(this.#hub, { except: [this.id] });
  }

  /** The same as `broadcast`: one room is one server. */
  get local(): BroadcastOperator<Outgoing, Data> {
    return this.broadcast;
  }

  /** Everyone else in the channel. */
  to(channel: string | readonly string[]): BroadcastOperator<Outgoing, Data> {
    return this.broadcast.to(channel);
  }

  in(channel: string | readonly string[]): BroadcastOperator<Outgoing, Data> {
    return this.to(channel);
  }

  except(channel: string | readonly string[]): BroadcastOperator<Outgoing, Data> {
    return this.broadcast.except(channel);
  }

  /** @param close ends the whole session rather than this namespace only */
  disconnect(close = false): void {
    if (!this.connected) return;
    if (close) return this.#host.dismissSession(this.session);
    // Its own `onDisconnecting` may call this again.
    if (this.isLeaving) return;
    this.#host.effects.send([this.session], encodeDisconnect(this.nsp));
    this.#host.removeSocket(this as Socket, "server namespace disconnect");
  }
}
