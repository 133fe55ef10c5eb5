// Selects recipients with `to`, `in`, `except` and flags, and emits to all of them or moves them: the BroadcastOperator of Socket.IO.
// Immutable. Made by namespaces and sockets, for applications.
import { checkAwaitMs } from "./acks.ts";
import type { AnswerOf, EventArgs, EventName, EventsMap, QuestionArgs } from "./events.ts";
import type { Audience, Hub } from "./hub.ts";
import type { Socket } from "./socket.ts";

type Channels = string | readonly string[];

export class BroadcastOperator<Outgoing extends EventsMap, Data> {
  readonly #hub: Pick<Hub, "emit" | "select">;
  readonly #audience: Audience;
  readonly #ackTimeoutMs: number | undefined;

  constructor(hub: Pick<Hub, "emit" | "select">, audience: Audience, ackTimeoutMs?: number) {
    this.#hub = hub;
    this.#audience = audience;
    this.#ackTimeoutMs = ackTimeoutMs;
  }

  #with(change: Partial<Audience>): this {
    const audience = { ...this.#audience, ...change };
    return new BroadcastOperator<Outgoing, Data>(this.#hub, audience, this.#ackTimeoutMs) as this;
  }

  /** Adds the sockets in the channel to the selection. The id of a socket is a channel with that socket. */
  to(channel: Channels): this {
    return this.#with({ channels: [...(this.#audience.channels ?? []), ...listed(channel)] });
  }

  /** The same as `to`, as in Socket.IO. */
  in(channel: Channels): this {
    return this.to(channel);
  }

  except(channel: Channels): this {
    return this.#with({ except: [...(this.#audience.except ?? []), ...listed(channel)] });
  }

  /** Drops events for sockets that cannot receive at once; these events are never replayed. */
  get volatile(): this {
    return this.#with({ isVolatile: true });
  }

  /** Accepted for compatibility: compression is a setting of the whole server. */
  compress(_compress: boolean): this {
    return this;
  }

  /** Changes nothing: one room is one server. */
  get local(): this {
    return this;
  }

  /** How long `emitWithAck` waits, in ms; at most `ACK_AWAIT_MS_MAX`. */
  timeout(ms: number): this {
    return new BroadcastOperator<Outgoing, Data>(this.#hub, this.#audience, ms) as this;
  }

  /** Encodes the event once and sends it to all selected sockets. */
  emit<Event extends EventName<Outgoing>>(event: Event, ...args: EventArgs<Outgoing, Event>): true {
    this.#hub.emit(this.#audience, event, args);
    return true;
  }

  /**
   * Sends the event and waits for all acks. Rejects when one is missing in time; the error's `responses` holds those that arrived.
   * @throws RangeError when the time given to `timeout` is out of range
   */
  async emitWithAck<Event extends EventName<Outgoing>>(
    event: Event,
    ...args: QuestionArgs<Outgoing, Event>
  ): Promise<Array<AnswerOf<Outgoing, Event>>> {
    if (this.#ackTimeoutMs !== undefined) checkAwaitMs(this.#ackTimeoutMs);
    const waits = this.fetchSockets().map((socket) =>
      // Each socket has its own ack ids.
      (this.#ackTimeoutMs === undefined ? socket : socket.timeout(this.#ackTimeoutMs)).emitWithAck(event, ...args),
    );
    const results = await Promise.allSettled(waits);
    const responses = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    if (responses.length === results.length) return responses;
    throw Object.assign(new Error("operation has timed out"), { responses });
  }

  /** The selected sockets. */
  fetchSockets(): Array<Socket<Outgoing, Data>> {
    return [...this.#hub.select(this.#audience)] as Array<Socket<Outgoing, Data>>;
  }

  socketsJoin(channel: Channels): void {
    for (const socket of this.fetchSockets()) socket.join(channel);
  }

  socketsLeave(channel: Channels): void {
    for (const socket of this.fetchSockets()) for (const name of listed(channel)) socket.leave(name);
  }

  /** @param close ends the whole sessions rather than this namespace only */
  disconnectSockets(close = false): void {
    for (const socket of this.fetchSockets()) socket.disconnect(close);
  }
}

/** The methods of a namespace that select its sockets, or address all of them. */
export abstract class Broadcasts<Outgoing extends EventsMap, Data> {
  abstract get everyone(): BroadcastOperator<Outgoing, Data>;

  emit<Event extends EventName<Outgoing>>(event: Event, ...args: EventArgs<Outgoing, Event>): true {
    return this.everyone.emit(event, ...args);
  }

  to(channel: string | readonly string[]): BroadcastOperator<Outgoing, Data> {
    return this.everyone.to(channel);
  }

  in(channel: string | readonly string[]): BroadcastOperator<Outgoing, Data> {
    return this.everyone.to(channel);
  }

  except(channel: string | readonly string[]): BroadcastOperator<Outgoing, Data> {
    return this.everyone.except(channel);
  }

  get volatile(): BroadcastOperator<Outgoing, Data> {
    return this.everyone.volatile;
  }

  get local(): BroadcastOperator<Outgoing, Data> {
    return this.everyone;
  }

  compress(_compress: boolean): BroadcastOperator<Outgoing, Data> {
    return this.everyone;
  }

  timeout(ms: number): BroadcastOperator<Outgoing, Data> {
    return this.everyone.timeout(ms);
  }

  emitWithAck<Event extends EventName<Outgoing>>(
    event: Event,
    ...args: QuestionArgs<Outgoing, Event>
  ): Promise<Array<AnswerOf<Outgoing, Event>>> {
    return this.everyone.emitWithAck(event, ...args);
  }

  fetchSockets(): Array<Socket<Outgoing, Data>> {
    return this.everyone.fetchSockets();
  }

  socketsJoin(channel: string | readonly string[]): void {
    this.everyone.socketsJoin(channel);
  }

  socketsLeave(channel: string | readonly string[]): void {
    this.everyone.socketsLeave(channel);
  }

  disconnectSockets(close = false): void {
    this.everyone.disconnectSockets(close);
  }
}

/** One name, or several. */
export const listed = (names: Channels): readonly string[] => (typeof names === "string" ? [names] : names);
