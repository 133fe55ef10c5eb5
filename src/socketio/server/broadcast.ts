// Selects recipients with `to`, `in`, `except` and flags, and emits to all of them or moves them: the BroadcastOperator of Socket.IO, and the
// same methods of a namespace. Selections are immutable. Made by namespaces and sockets, for applications.
import { checkEvent } from "../wire/socket-io.ts";
import { ACK_AWAIT_MS_MAX, checkAwaitMs, Unanswered } from "./acks.ts";
import type { AnswerOf, EventArgs, EventName, EventsMap, QuestionArgs } from "./events.ts";
import type { Audience, Hub } from "./hub.ts";
import type { Socket } from "./socket.ts";

/** By type a channel's name is a string, as in Socket.IO. Code without types may give any primitive but a symbol: it stays what it is. */
type Channels = string | readonly string[];

interface Asked extends Audience {
  /** How long `emitWithAck` waits, in ms. */
  readonly ackTimeoutMs?: number;
}

interface Selected {
  readonly hub: Pick<Hub, "emit" | "select">;
  readonly audience: Asked;
}

/** A symbol, so that an application's namespace cannot hide it by chance. */
export const SELECTED: unique symbol = Symbol();

/** The methods of a namespace and of a BroadcastOperator: they go on from the sockets that are selected. */
export abstract class Broadcasts<Outgoing extends EventsMap, Data> {
  abstract readonly [SELECTED]: Selected;

  #with(change: Asked): BroadcastOperator<Outgoing, Data> {
    const { hub, audience } = this[SELECTED];
    return new BroadcastOperator<Outgoing, Data>(hub, { ...audience, ...change });
  }

  /** Adds the sockets in the channel to the selection. The id of a socket is a channel with that socket. */
  to(channel: Channels): BroadcastOperator<Outgoing, Data> {
    return this.#with({ channels: [...(this[SELECTED].audience.channels ?? []), ...listed(channel)] });
  }

  /** The same as `to`, as in Socket.IO. */
  in(channel: Channels): BroadcastOperator<Outgoing, Data> {
    return this.to(channel);
  }

  except(channel: Channels): BroadcastOperator<Outgoing, Data> {
    return this.#with({ except: [...(this[SELECTED].audience.except ?? []), ...listed(channel)] });
  }

  /** Drops events for sockets that cannot receive at once; these events are never replayed. */
  get volatile(): BroadcastOperator<Outgoing, Data> {
    return this.#with({ isVolatile: true });
  }

  /** Accepted for compatibility: compression is a setting of the whole server. */
  compress(_compress: boolean): BroadcastOperator<Outgoing, Data> {
    return this.#with({});
  }

  /** Changes nothing: one room is one server. */
  get local(): BroadcastOperator<Outgoing, Data> {
    return this.#with({});
  }

  /** How long `emitWithAck` waits, in ms; at most `ACK_AWAIT_MS_MAX`. */
  timeout(ms: number): BroadcastOperator<Outgoing, Data> {
    return this.#with({ ackTimeoutMs: ms });
  }

  /** Encodes the event once and sends it to all selected sockets. */
  emit<Event extends EventName<Outgoing>>(event: Event, ...args: EventArgs<Outgoing, Event>): true {
    const { hub, audience } = this[SELECTED];
    hub.emit(audience, event, args);
    return true;
  }

  /**
   * Sends the event and waits for all acks. Rejects when one is missing in time; the error's `responses` holds those that arrived.
   * @throws RangeError when the time given to `timeout` is out of range, and what `emit` throws
   */
  async emitWithAck<Event extends EventName<Outgoing>>(
    event: Event,
    ...args: QuestionArgs<Outgoing, Event>
  ): Promise<Array<AnswerOf<Outgoing, Event>>> {
    const { ackTimeoutMs = ACK_AWAIT_MS_MAX, isVolatile = false } = this[SELECTED].audience;
    // Here, too, because there may be no socket.
    checkAwaitMs(ackTimeoutMs);
    checkEvent(event, args);
    // Each socket has its own ack ids.
    const waits = this.fetchSockets().map((socket) =>
      (isVolatile ? socket.volatile : socket).timeout(ackTimeoutMs).emitWithAck(event, ...args),
    );
    const results = await Promise.allSettled(waits);
    const responses = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    if (responses.length === results.length) return responses;
    const isFailure = (result: PromiseSettledResult<unknown>): result is PromiseRejectedResult =>
      result.status === "rejected" && !(result.reason instanceof Unanswered);
    const failure = results.find(isFailure);
    if (failure) throw failure.reason;
    throw Object.assign(new Error("operation has timed out"), { responses });
  }

  /** The selected sockets. */
  fetchSockets(): Array<Socket<Outgoing, Data>> {
    const { hub, audience } = this[SELECTED];
    return [...hub.select(audience)] as Array<Socket<Outgoing, Data>>;
  }

  socketsJoin(channel: Channels): void {
    const names = listed(channel);
    for (const socket of this.fetchSockets()) socket.join(names);
  }

  socketsLeave(channel: Channels): void {
    const names = listed(channel);
    for (const socket of this.fetchSockets()) for (const name of names) socket.leave(name);
  }

  /** @param close ends the whole sessions rather than this namespace only */
  disconnectSockets(close = false): void {
    for (const socket of this.fetchSockets()) socket.disconnect(close);
  }
}

export class BroadcastOperator<Outgoing extends EventsMap, Data> extends Broadcasts<Outgoing, Data> {
  override readonly [SELECTED]: Selected;

  constructor(hub: Selected["hub"], audience: Asked) {
    super();
    this[SELECTED] = { hub, audience };
  }
}

/** One name, or several. @throws TypeError for what could not be stored as a name, or not be found again */
export function listed(names: Channels): readonly string[] {
  const list: readonly unknown[] = [names].flat();
  for (const name of list) {
    const isPrimitive = name === null || (typeof name !== "object" && typeof name !== "function");
    if (!isPrimitive || typeof name === "symbol")
      throw new TypeError(`a room's name is a string or a number, not ${describeName(name)}`);
  }
  return list as readonly string[];
}

const describeName = (name: unknown): string =>
  typeof name === "object" ? Object.prototype.toString.call(name) : `a ${typeof name}`;
