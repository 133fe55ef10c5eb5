// One session in one namespace, as the application sees it. Its state (socket-state.ts) survives sleep; other properties that an
// application sets on this object do not.
import { ACK_AWAIT_MS_MAX, ASK_MS_MAX, checkAwaitMs, type Acks } from "./acks.ts";
import type { DisconnectReason } from "../wire/closings.ts";
import type { Frame } from "../wire/engine-io.ts";
import { checkEventName, encodeDisconnect, encodeEvent } from "../wire/socket-io.ts";
import { BroadcastOperator } from "./broadcast.ts";
import type { AnswerOf, EventArgs, EventName, EventsMap, QuestionArgs } from "./events.ts";
import { isReady, type Hub } from "./hub.ts";
import type { Outbox } from "../engine/outbox.ts";
import type { SocketRecord } from "./records.ts";
import type { SocketSession } from "./socket-session.ts";
import { SocketState } from "./socket-state.ts";

/** The server, as a socket sees it. */
export interface SocketHost {
  readonly outbox: Outbox;
  readonly acks: Acks;
  now(): number;
  dismissSession(session: SocketSession): void;
  removeSocket(socket: Socket, reason: DisconnectReason): void;
}

export interface AskOptions {
  /** A name in the namespace's `continuations`, which goes on with the answer. */
  readonly handler: string;
  /** Plain data that it goes on with. */
  readonly data?: unknown;
  /** More than 0, at most `ASK_MS_MAX`. */
  readonly timeoutMs: number;
}

// oxlint-disable-next-line typescript/no-explicit-any -- the default of an untyped application, as in Socket.IO
export class Socket<Outgoing extends EventsMap = EventsMap, Data = any> extends SocketState<Data> {
  connected = true;
  /** Whether its `onDisconnecting` has begun. */
  isLeaving = false;
  readonly #hub: Hub;
  readonly #host: SocketHost;

  constructor(record: SocketRecord, session: SocketSession, hub: Hub, host: SocketHost) {
    super(record, session, hub, host.outbox);
    this.#hub = hub;
    this.#host = host;
  }

  /** The transport now: a WebSocket survives the sleep of its object, long-polling does not. */
  get transport(): "websocket" | "polling" {
    return this.session.polling ? "polling" : "websocket";
  }

  /** The channels that reach this socket: its own id, and those it joined. Empty once it is gone. */
  get rooms(): ReadonlySet<string> {
    const isThere = this.#hub.sockets.get(this.id) === (this as Socket);
    return new Set(isThere ? [this.id, ...this.channels] : this.channels);
  }

  join(channel: string | readonly string[]): void {
    for (const name of typeof channel === "string" ? [channel] : channel) this.#hub.join(this, name);
  }

  leave(channel: string): void {
    this.#hub.leave(this, channel);
  }

  emit<Event extends EventName<Outgoing>>(event: Event, ...args: EventArgs<Outgoing, Event>): true {
    this.#send(event, args);
    return true;
  }

  #send(event: string, args: readonly unknown[], ackId?: number): void {
    checkEventName(event);
    if (!this.connected) return;
    this.#hub.callOutgoing(this as Socket, event, args);
    // An event that asks for an ack ends with the client's callback, so nothing in it passes for an offset.
    const offset = ackId === undefined ? this.#nextOffset(event, args) : undefined;
    this.#write(event, args, offset, ackId);
  }

  #write(event: string, args: readonly unknown[], offset: string | undefined, ackId?: number): void {
    if (!this.connected) return;
    const withOffset = offset === undefined ? args : [...args, offset];
    this.#host.outbox.send([this.session], encodeEvent(this.nsp, event, withOffset, ackId));
  }

  /** Every event to a client that recovers ends with an offset: any other string there would be taken for one. */
  #nextOffset(event: string, args: readonly unknown[]): string | undefined {
    const { recovery } = this.#hub;
    if (!recovery || this.pid === undefined) return undefined;
    const { log } = recovery;
    return recovery.offset(log.append?.({ event, args, channels: [this.id] }) ?? log.lastSeq);
  }

  /** For events that are not kept: the place that the client has reached anyway. */
  #currentOffset(): string | undefined {
    const { recovery } = this.#hub;
    return recovery && this.pid !== undefined ? recovery.offset(recovery.log.lastSeq) : undefined;
  }

  /** Sends missed events, with their offsets. Called by connects.ts. */
  replay(missed: readonly Frame[]): void {
    if (missed.length === 0) return;
    this.#host.outbox.send([this.session], missed);
  }

  /** Emits only to clients that can take it at once, this one or those selected next; for others the event is dropped. */
  get volatile(): Pick<this, "emit" | "broadcast" | "to" | "in" | "except"> {
    const broadcast = this.broadcast.volatile;
    return {
      emit: (event, ...args) => {
        if (isReady(this.session)) this.#write(event, args, this.#currentOffset());
        return true;
      },
      broadcast,
      to: (channel) => broadcast.to(channel),
      in: (channel) => broadcast.to(channel),
      except: (channel) => broadcast.except(channel),
    };
  }

  /** Accepted for compatibility: compression is a setting of the whole server. */
  compress(_compress: boolean): this {
    return this;
  }

  /** Waits for the client's ack with a limit of its own, in ms; at most `ACK_AWAIT_MS_MAX`. */
  timeout(ms: number): Pick<this, "emitWithAck"> {
    return {
      emitWithAck: (event: EventName<Outgoing>, ...args: unknown[]) => this.#emitWithAck(event, args, ms),
    } as Pick<this, "emitWithAck">;
  }

  /**
   * Emits an event and waits for the client's ack, which keeps the object awake meanwhile.
   * Rejects after `ACK_AWAIT_MS_MAX`, or the time given to `timeout`, or when the socket goes.
   */
  emitWithAck<Event extends EventName<Outgoing>>(
    event: Event,
    ...args: QuestionArgs<Outgoing, Event>
  ): Promise<AnswerOf<Outgoing, Event>> {
    return this.#emitWithAck(event, args, ACK_AWAIT_MS_MAX) as Promise<AnswerOf<Outgoing, Event>>;
  }

  async #emitWithAck(event: string, args: readonly unknown[], timeoutMs: number): Promise<unknown> {
    checkAwaitMs(timeoutMs);
    const { acks, outbox } = this.#host;
    const id = this.#takeAckId(event);
    const answer = outbox.turn(() => {
      // First: an event that could not be sent is not waited for.
      this.#send(event, args, id);
      if (!this.connected) throw new Error("socket has been disconnected");
      return acks.wait(this as Socket, id, this.#host.now() + timeoutMs);
    });
    return (await answer)[0];
  }

  /**
   * Emits an event whose answer may take long: the object sleeps meanwhile, and the namespace's continuation
   * `handler` goes on with `data` and an `AskAnswer`, exactly once: the client's ack, the timeout, or `disconnected`
   * when the socket goes first. A socket that recovers is not asked again by itself. Should the object die rather
   * than sleep, with all its connections, the continuation is not called, and neither is `onDisconnect`.
   * @returns whether it was asked: not where the socket is gone, and then no continuation follows
   * @throws RangeError when `timeoutMs` is out of range, or `args` hold more attachments than a packet carries; it was not
   * asked then
   */
  ask<Event extends EventName<Outgoing>>(
    event: Event,
    args: QuestionArgs<Outgoing, Event>,
    { handler, data, timeoutMs }: AskOptions,
  ): boolean {
    if (!(timeoutMs > 0 && timeoutMs <= ASK_MS_MAX))
      throw new RangeError(`ask: timeoutMs is 1 to ${ASK_MS_MAX}, not ${timeoutMs}`);
    const { acks, outbox } = this.#host;
    const id = this.#takeAckId(event);
    return outbox.turn(() => {
      // First: an event that could not be sent is no question.
      this.#send(event, args, id);
      if (!this.connected) return false;
      this.setAsks([...this.asks, { id, handler, data, dueMs: this.#host.now() + timeoutMs }]);
      acks.watch(this as Socket);
      return true;
    });
  }

  /** Kept with the session: after sleep a late ack must not answer a question that came later. */
  #takeAckId(event: string): number {
    // Before the answer is waited for.
    checkEventName(event);
    this.#host.outbox.save(this.session);
    return this.session.takeAckId();
  }

  /** Everyone else in the namespace. */
  get broadcast(): BroadcastOperator<Outgoing, Data> {
    return new BroadcastOperator<Outgoing, Data>(this.#hub, { except: [this.id] });
  }

  /** The same: one room is one server. */
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
    // Called once more by its own `onDisconnecting`.
    if (this.isLeaving) return;
    this.#host.outbox.send([this.session], encodeDisconnect(this.nsp));
    this.#host.removeSocket(this as Socket, "server namespace disconnect");
  }
}
