// What an application extends: one class per namespace, with a table of event handlers.
// Handlers belong to the class and state to `socket.data`: after sleep a new instance serves the same
// sockets, so closures made in `onConnect` would be gone while methods and plain data are there.
import type { DisconnectReason } from "../protocol/closings.ts";
import { BroadcastOperator } from "./broadcast.ts";
import type { Deadline, Deadlines } from "./deadlines.ts";
import type { EventArgs, EventName, EventsMap } from "./events.ts";
import type { Hub } from "./hub.ts";
import type { Handshake } from "./session.ts";
import type { Socket } from "./socket.ts";

/** A CONNECT that waits for its verdict. */
export interface ConnectRequest {
  /** The `auth` of the client, exactly as it came: untrusted. */
  readonly auth: Readonly<Record<string, unknown>>;
  readonly handshake: Handshake;
}

/** `data` becomes `socket.data`; a refusal reaches the client as CONNECT_ERROR. */
export type Verdict<Data> =
  | { readonly accepted: true; readonly data: Data }
  | { readonly accepted: false; readonly message: string; readonly data?: unknown };

export type Handlers<Incoming extends EventsMap, Client> = {
  readonly [Event in EventName<Incoming>]: (
    socket: Client,
    ...args: EventArgs<Incoming, Event>
  ) => void | Promise<void>;
};

/** What the server gives a namespace when it takes it in. */
export interface NamespaceContext {
  readonly hub: Hub;
  readonly deadlines: Deadlines;
  /** Milliseconds since 1970, as of the current input. */
  readonly now: () => number;
  /** A fresh id that nobody can guess. */
  readonly newId: () => string;
  /** Runs `work` as a turn: for what happens after an await. */
  turn<Result>(work: () => Result): Result;
  /** A failure that the application survived but the operator should hear of. */
  readonly report: (problem: string, error: unknown) => void;
}

export abstract class Namespace<
  Incoming extends EventsMap = EventsMap,
  Outgoing extends EventsMap = EventsMap,
  // oxlint-disable-next-line typescript/no-explicit-any -- the default of an untyped application, as in Socket.IO
  Data = any,
> {
  abstract readonly handlers: Handlers<Incoming, Socket<Outgoing, Data>>;
  #context: NamespaceContext | undefined;

  /** Decides on a CONNECT; without it everyone is let in, with an empty `socket.data`. */
  authorize?(request: ConnectRequest): Verdict<Data> | Promise<Verdict<Data>>;

  /** Called once when the server starts or wakes, before any socket is there: the place to add deadlines. */
  onStart?(): void;

  /** Called once in a socket's life, after the client has its CONNECT answer; never again on waking. */
  onConnect?(socket: Socket<Outgoing, Data>): void;

  /** Called for each socket that is still there after sleep: the place to rebuild what memory held. */
  onRestore?(socket: Socket<Outgoing, Data>): void;

  /** Called once when a socket is gone; it is in no channel any more and can be sent nothing. */
  onDisconnect?(socket: Socket<Outgoing, Data>, reason: DisconnectReason): void;

  /** An event that no handler is there for; the last of `args` may be the ack callback. */
  onUnknownEvent?(socket: Socket<Outgoing, Data>, event: string, args: readonly unknown[]): void;

  /** Called by the server that takes this namespace in. */
  start(context: NamespaceContext): void {
    if (this.#context) throw new Error("this namespace already belongs to a server");
    this.#context = context;
    this.onStart?.();
  }

  protected get context(): NamespaceContext {
    if (!this.#context) throw new Error("this namespace belongs to no server yet");
    return this.#context;
  }

  /** The sockets in this namespace, by id. */
  get sockets(): ReadonlyMap<string, Socket<Outgoing, Data>> {
    return this.context.hub.sockets as ReadonlyMap<string, Socket<Outgoing, Data>>;
  }

  /** @param name stands in the record of why a room woke */
  protected deadline(name: string, run: (nowMs: number) => void): Deadline {
    return this.context.deadlines.add(name, run);
  }

  emit<Event extends EventName<Outgoing>>(event: Event, ...args: EventArgs<Outgoing, Event>): true {
    return new BroadcastOperator<Outgoing>(this.context.hub, {}).emit(event, ...args);
  }

  /** The same event once per list of arguments, in order, as one burst per recipient. */
  protected emitAll<Event extends EventName<Outgoing>>(
    event: Event,
    argLists: ReadonlyArray<EventArgs<Outgoing, Event>>,
  ): void {
    this.context.hub.emitAll({}, event, argLists);
  }

  to(channel: string | readonly string[]): BroadcastOperator<Outgoing> {
    return new BroadcastOperator<Outgoing>(this.context.hub, {}).to(channel);
  }

  except(channel: string | readonly string[]): BroadcastOperator<Outgoing> {
    return new BroadcastOperator<Outgoing>(this.context.hub, {}).except(channel);
  }
}
