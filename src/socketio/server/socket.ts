// One session in one namespace, as the application sees it. What it holds in `data`, the channels it joined
// and what it asked survive sleep; nothing else that an application hangs on this object does.
import { ACK_AWAIT_MS_MAX, ASK_MS_MAX, checkAwaitMs, type Acks } from "./acks.ts";
import type { DisconnectReason } from "../wire/closings.ts";
import type { Frame } from "../wire/engine-io.ts";
import { checkEventName, encodeDisconnect, encodeEvent } from "../wire/socket-io.ts";
import { BroadcastOperator } from "./broadcast.ts";
import type { AnswerOf, EventArgs, EventName, EventsMap, QuestionArgs } from "./events.ts";
import { fingerprint } from "./fingerprint.ts";
import { isReady, type Hub } from "./hub.ts";
import type { Outbox } from "../engine/outbox.ts";
import type { Handshake } from "../engine/session.ts";
import { ChannelHistory } from "../recovery/channel-history.ts";
import type { AskRecord, SocketRecord, TokenRecord } from "./records.ts";
import { NOTHING, type SocketSession } from "./socket-session.ts";

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

/** One for all sockets that are in no channel. */
const NOWHERE: ReadonlySet<string> = new Set();

// oxlint-disable-next-line typescript/no-explicit-any -- the default of an untyped application, as in Socket.IO
export class Socket<Outgoing extends EventsMap = EventsMap, Data = any> {
  readonly id: string;
  readonly session: SocketSession;
  readonly pid: string | undefined;
  connected = true;
  /** Whether its `onDisconnecting` has begun. */
  isLeaving = false;
  /** Whether this connection goes on where an earlier one broke off, with nothing missing. */
  readonly recovered: boolean;
  readonly #hub: Hub;
  readonly #host: SocketHost;
  readonly #rule: number | undefined;
  #channels: Set<string> | undefined;
  /** What the log remembers of this socket; `undefined` where nobody can tell whether it is still the same. */
  #remembered: string | undefined;
  #channelHistory: ChannelHistory | undefined;
  #asks: readonly AskRecord[];
  #data: Data;
  #token: TokenRecord | undefined;

  constructor(record: SocketRecord, session: SocketSession, hub: Hub, host: SocketHost) {
    this.id = record.id;
    this.session = session;
    if (record.channels.length > 0) this.#channels = new Set(record.channels);
    this.pid = record.pid;
    this.recovered = record.recovered ?? false;
    this.#rule = record.rule;
    this.#asks = record.asks ?? NOTHING;
    this.#data = record.data as Data;
    this.#token = record.token;
    this.#hub = hub;
    this.#host = host;
    // A socket that slept was remembered as it was: its record and its memory are written together.
    if (record.pid !== undefined && hub.recovery?.log.remember) this.#remembered = this.#memory();
  }

  /** As of now: what is joined later may be in another set. */
  get channels(): ReadonlySet<string> {
    return this.#channels ?? NOWHERE;
  }

  get nsp(): string {
    return this.#hub.nsp;
  }

  get handshake(): Handshake {
    return this.session.handshake;
  }

  /** What carries it now: a WebSocket survives the sleep of its object, long-polling does not. */
  get transport(): "websocket" | "polling" {
    return this.session.polling ? "polling" : "websocket";
  }

  /** The user whom its token names; `undefined` where anybody may come in. */
  get user(): string | undefined {
    return this.#token?.user;
  }

  /** The token that it is in with, as far as it is kept. */
  get token(): TokenRecord | undefined {
    return this.#token;
  }

  /** For the server, which has verified it. */
  setToken(token: TokenRecord): void {
    this.#token = token;
    this.#host.outbox.save(this.session);
  }

  /** Plain data (structured clone) that stays with the socket through sleep. Reading it counts as changing it. */
  get data(): Data {
    this.#host.outbox.save(this.session);
    return this.#data;
  }

  set data(data: Data) {
    this.#data = data;
    this.#host.outbox.save(this.session);
  }

  /** The same data for a look only: what is changed through it is not kept. */
  peek(): Readonly<Data> {
    return this.#data;
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

  /** For what is not kept: the place that the client has reached anyway. */
  #currentOffset(): string | undefined {
    const { recovery } = this.#hub;
    return recovery && this.pid !== undefined ? recovery.offset(recovery.log.lastSeq) : undefined;
  }

  /** Sends what was missed, with its offsets. Called by the server. */
  replay(missed: readonly Frame[]): void {
    if (missed.length === 0) return;
    this.#host.outbox.send([this.session], missed);
  }

  /** For the hub, which knows who is in a channel. */
  enter(channel: string): void {
    (this.#channels ??= new Set()).add(channel);
  }

  /** For the hub. */
  exit(channel: string): void {
    this.#channels?.delete(channel);
  }

  /** For the server: it is gone, and in no channel any more. */
  exitAll(): void {
    this.#channels = undefined;
  }

  /**
   * For the hub: when it was in which channel, where a log remembers that. Only there, and read when first needed: the
   * session's record has no room for it.
   */
  get channelHistory(): ChannelHistory | undefined {
    const log = this.#hub.recovery?.log;
    if (this.pid === undefined || !log?.remember) return undefined;
    return (this.#channelHistory ??= new ChannelHistory([...this.channels], log.recall?.(this.id)?.history));
  }

  /** Keeps what a recovering socket gets back, where the namespace's log remembers sockets. */
  remember(departure: { readonly goneAtMs?: number; readonly saidGoodbye?: boolean } = {}): void {
    const { channelHistory } = this;
    if (!channelHistory) return;
    this.#remembered = this.#memory();
    const memory = { channels: [...this.channels], history: channelHistory.toRecord(), data: this.#data, ...departure };
    this.#hub.recovery?.log.remember?.(this.id, memory);
  }

  /** The same, but only where something changed since: the object may die without noticing. */
  rememberChange(): void {
    if (this.pid === undefined || !this.#hub.recovery?.log.remember) return;
    const memory = this.#memory();
    if (memory === undefined || memory !== this.#remembered) this.remember();
  }

  /** What would be remembered, as text to compare. */
  #memory(): string | undefined {
    // A history that was not read has not changed.
    return fingerprint([[...this.channels], this.#channelHistory?.toRecord(), this.#data]);
  }

  /** Emits only what can be taken at once, by the client or by those selected next; the rest is dropped. */
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
      // First: what could not be sent is not waited for.
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
   * than sleep, with all its connections, nobody is left to be told, here as with `onDisconnect`.
   * @returns whether it was asked: not where the socket is gone, and then nothing goes on either
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
      // First: what could not be sent was not asked.
      this.#send(event, args, id);
      if (!this.connected) return false;
      this.setAsks([...this.#asks, { id, handler, data, dueMs: this.#host.now() + timeoutMs }]);
      acks.watch(this as Socket);
      return true;
    });
  }

  /** Kept with the session: after sleep a late ack must not answer a question that came later. */
  #takeAckId(event: string): number {
    // Before anybody waits for the answer.
    checkEventName(event);
    this.#host.outbox.save(this.session);
    return this.session.takeAckId();
  }

  /** What was asked and is not answered yet. */
  get asks(): readonly AskRecord[] {
    return this.#asks;
  }

  setAsks(asks: readonly AskRecord[]): void {
    this.#asks = asks;
    this.#host.outbox.save(this.session);
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
    // Asked for once more by its own `onDisconnecting`.
    if (this.isLeaving) return;
    this.#host.outbox.send([this.session], encodeDisconnect(this.nsp));
    this.#host.removeSocket(this as Socket, "server namespace disconnect");
  }

  toRecord(): SocketRecord {
    return {
      nsp: this.nsp,
      id: this.id,
      data: this.#data,
      channels: [...this.channels],
      ...(this.recovered && { recovered: true }),
      ...(this.pid !== undefined && { pid: this.pid }),
      ...(this.#rule !== undefined && { rule: this.#rule }),
      ...(this.#asks.length > 0 && { asks: this.#asks }),
      ...(this.#token && { token: this.#token }),
    };
  }
}
