// The base class of an application's namespaces: one class per namespace, with a table of event handlers. Handlers are
// methods, and state is in `socket.data`: after sleep a new instance serves the same sockets, so closures made in
// `onConnect` would be gone.
import type { Closing, DisconnectReason } from "../wire/closings.ts";
import type { AskAnswer } from "./acks.ts";
import { Broadcasts, SELECTED } from "./broadcast.ts";
import type { Deadline, DeadlineOptions, Deadlines } from "../../clock/deadlines.ts";
import type { EventArgs, EventName, EventsMap, HandledArgs } from "./events.ts";
import type { Failures } from "./failures.ts";
import type { Hub } from "./hub.ts";
import { Interval } from "./intervals.ts";
import type { Recovery } from "../recovery/recovery.ts";
import type { ServerHandlers, ServerSide } from "./server-side.ts";
import type { Handshake, Identity } from "../engine/session.ts";
import type { Socket } from "./socket.ts";
import type { SocketSession } from "./socket-session.ts";
import type { RefreshAnswer } from "./token-life.ts";

/** A CONNECT to be decided. */
export interface ConnectRequest<User extends Identity = Identity> {
  /** The name that the client asked for, for classes that serve many. */
  readonly nsp: string;
  /** The `auth` of the client, as it came: untrusted. */
  readonly auth: Readonly<Record<string, unknown>>;
  readonly handshake: Handshake;
  /** The identity of the verified token, or the one that the Worker vouches for; absent with `authenticate = "anybody"` (TOK-4). */
  readonly identity?: User;
}

export interface Refusal {
  readonly accepted: false;
  readonly message: string;
  readonly data?: unknown;
  /** The time within which the cause may pass; the client should come back then (SIO-13). */
  readonly passesInMs?: number;
}

/** `data` becomes `socket.data`; a refusal reaches the client as CONNECT_ERROR. */
export type AuthorizeResult<Data> = { readonly accepted: true; readonly data: Data } | Refusal;

/**
 * The handlers of a namespace, by event: each gets the socket, and then the client's arguments, an ack last if the client asks for one: call
 * `ack?.(answer)`. Its result is awaited, and is no answer.
 */
export type Handlers<Incoming extends EventsMap = EventsMap, Client = Socket> = {
  readonly [Event in EventName<Incoming>]: (socket: Client, ...args: HandledArgs<Incoming, Event>) => unknown;
};

/** The methods that are called with the answer to `socket.ask`, by name. */
export type Continuations<Client> = Readonly<
  Record<string, (socket: Client, answer: AskAnswer, data: unknown) => unknown>
>;

/** Runs before `authorize`; a refusal is final. */
export type ConnectMiddleware = (request: ConnectRequest) => Refusal | void | Promise<Refusal | void>;

/** Runs before an event's handler. If it returns an error, the client gets it as event `error`, and the handler is not called. */
export type EventMiddleware<Client> = (socket: Client, event: string, args: readonly unknown[]) => Error | void;

/** The parts of the server that a namespace uses. */
export interface NamespaceContext {
  readonly hub: Hub;
  readonly deadlines: Deadlines;
  /** Milliseconds since 1970, as of the current input. */
  readonly now: () => number;
  /** A fresh id that cannot be guessed. */
  readonly newId: () => string;
  /** Runs `work` as a turn, for code after an await. */
  turn<Result>(work: () => Result): Result;
  /** Logs a failure that the application survived. */
  readonly report: (problem: string, error: unknown) => void;
  readonly failures: Failures;
  /** Spreads the periodic work of servers: from 0 to below 1. */
  readonly phase: number;
  readonly serverSide: ServerSide;
  /** All sessions of the server, by id: those of other namespaces, too. */
  readonly sessions: ReadonlyMap<string, SocketSession>;
  /** Closes the session of a socket, and with it the session's sockets in all namespaces. */
  readonly closeSession: (session: SocketSession, closing: Closing) => void;
  /** TOK-3: replaces the token of a socket by another one of its user. A client that is gone by then gets no answer. */
  refreshToken(socket: Socket, token: string, reply: (answer: RefreshAnswer) => void): Promise<void>;
}

/** The names of a namespace's parts for the server and the chat. They are symbols, so that an application's class cannot hide one by chance. */
export const START: unique symbol = Symbol();
export const STOP: unique symbol = Symbol();
export const CONTEXT: unique symbol = Symbol();
export const STEPS: unique symbol = Symbol();
export const INTERVALS: unique symbol = Symbol();
export const HANDLE_EVENT: unique symbol = Symbol();

/** Middleware, in the order in which it runs. */
interface Steps<Client> {
  readonly connects: ConnectMiddleware[];
  readonly events: Array<EventMiddleware<Client>>;
}

export abstract class Namespace<
  Incoming extends EventsMap = EventsMap,
  Outgoing extends EventsMap = EventsMap,
  // oxlint-disable-next-line typescript/no-explicit-any -- the default of an untyped application, as in Socket.IO
  Data = any,
  Between extends EventsMap = EventsMap,
> extends Broadcasts<Outgoing, Data> {
  /** For the types of clients only (client-types.ts); never set. */
  declare readonly "~events"?: { readonly incoming: Incoming; readonly outgoing: Outgoing };
  abstract readonly handlers: Handlers<Incoming, Socket<Outgoing, Data>>;
  /** Handlers of the events of other rooms: SIO-12. */
  readonly serverHandlers: ServerHandlers<Between> = {} as ServerHandlers<Between>;
  readonly continuations: Continuations<Socket<Outgoing, Data>> = {};
  /** Whether a CONNECT needs a token that opens the room, where the object verifies tokens; with `anybody`, they are ignored (TOK-4). */
  readonly authenticate: "token" | "anybody" = "token";
  /** Makes connections recoverable: missed broadcasts are replayed from this log. */
  readonly recovery?: Recovery | undefined;
  readonly [STEPS]: Steps<Socket<Outgoing, Data>> = { connects: [], events: [] };
  readonly [INTERVALS]: Set<Interval> = new Set();
  #context: NamespaceContext | undefined;
  #isStarted = false;
  /** How many steps there were before `onStart`. */
  #ownConnects = 0;
  #ownEvents = 0;
  readonly #deadlines = new Set<Deadline>();

  /** Decides on a CONNECT whose token was verified. By default each is accepted, with an empty `socket.data`. */
  authorize?(request: ConnectRequest): AuthorizeResult<Data> | Promise<AuthorizeResult<Data>>;

  /**
   * May refuse an accepted CONNECT in the turn that lets the socket in: the place for limits on the number of sockets, which an
   * asynchronous `authorize` would check too early.
   */
  admit?(data: Data): Refusal | undefined;

  /**
   * Makes `socket.data` of a recovered socket from the stored data and that of `authorize`. By default the stored data: a namespace with
   * rights in it should take them from the new token.
   */
  mergeData?(remembered: Data, fresh: Data): Data;

  /** The only user who can recover the socket. By default the user of its token. */
  ownerOf(_data: Data, user = ""): string {
    return user;
  }

  /** Called once when the server starts or wakes, or the object was erased, before any socket is restored: the place to add deadlines. */
  onStart?(): void;

  /** Called once per socket, after the answer to its CONNECT; not when the object wakes. */
  onConnect?(socket: Socket<Outgoing, Data>): void | Promise<void>;

  /** Called when a socket has a new token of its user, with a name, role and rooms that may differ from the former one. */
  onRefresh?(socket: Socket<Outgoing, Data>, identity: Identity): void;

  /** Called for each socket that is restored after sleep: the place to rebuild state in memory. */
  onRestore?(socket: Socket<Outgoing, Data>): void | Promise<void>;

  /**
   * Called once when the object has started or woken and all open sockets are restored; in a namespace made on demand
   * later, when it is made. Former sockets that are not in `sockets` are gone, and neither `onDisconnecting` nor
   * `onDisconnect` is called for them: those over long-polling if the object slept, all of them if it died.
   */
  onWake?(): void;

  /** Called once when a socket is gone. It is in no channel any more. An event to it is dropped, or kept where its client may recover it. */
  onDisconnect?(socket: Socket<Outgoing, Data>, reason: DisconnectReason): void | Promise<void>;

  /** Called before a socket leaves its channels: `socket.rooms` still names them. */
  onDisconnecting?(socket: Socket<Outgoing, Data>, reason: DisconnectReason): void | Promise<void>;

  /** Called for each event, before its handler. The last of `args` may be the ack callback. */
  onAny?(socket: Socket<Outgoing, Data>, event: string, args: readonly unknown[]): void;

  /** Called for each event to a socket, once per recipient. */
  onAnyOutgoing?(socket: Socket<Outgoing, Data>, event: string, args: readonly unknown[]): void;

  /**
   * Called for every event in place of `handlers`, by an application that has a table of its own. Such a namespace
   * handles the refreshing of tokens itself. The last of `args` may be the ack callback.
   */
  [HANDLE_EVENT]?(socket: Socket<Outgoing, Data>, event: string, args: readonly unknown[]): void | Promise<void>;

  /** Called for an event without a handler. The last of `args` may be the ack callback. */
  onUnknownEvent?(socket: Socket<Outgoing, Data>, event: string, args: readonly unknown[]): void;

  /** Called when the first socket enters a channel, the last one leaves it, or any socket enters or leaves. */
  onChannelCreated?(channel: string): void;
  onChannelDeleted?(channel: string): void;
  onChannelJoined?(channel: string, socket: Socket<Outgoing, Data>): void;
  onChannelLeft?(channel: string, socket: Socket<Outgoing, Data>): void;

  /** Adds a step before `authorize`. Called in the constructor or `onStart`. */
  protected use(middleware: ConnectMiddleware): void {
    this[STEPS].connects.push(middleware);
  }

  /** Adds a step before every event's handler. Called in the constructor or `onStart`. */
  protected useEvents(middleware: EventMiddleware<Socket<Outgoing, Data>>): void {
    this[STEPS].events.push(middleware);
  }

  /** Called by namespaces.ts. */
  [START](context: NamespaceContext): void {
    if (this.#isStarted) throw new Error("this namespace already serves an object: make one for each, in its class");
    this.#isStarted = true;
    this.#context = context;
    this.#ownConnects = this[STEPS].connects.length;
    this.#ownEvents = this[STEPS].events.length;
    this.onStart?.();
  }

  /** Called by namespaces.ts when it removes an empty namespace that was made on demand, or another server takes over. */
  [STOP](): void {
    for (const deadline of this.#deadlines) this.#context?.deadlines.remove(deadline);
    this.#deadlines.clear();
    this[INTERVALS].clear();
    // `onStart` adds the others again.
    this[STEPS].connects.length = this.#ownConnects;
    this[STEPS].events.length = this.#ownEvents;
    this.#isStarted = false;
  }

  get [CONTEXT](): NamespaceContext {
    if (!this.#context) throw new Error("this namespace belongs to no server yet");
    return this.#context;
  }

  /** The sockets in this namespace, by id. */
  get sockets(): ReadonlyMap<string, Socket<Outgoing, Data>> {
    return this[CONTEXT].hub.sockets as ReadonlyMap<string, Socket<Outgoing, Data>>;
  }

  /** The channels that are not empty, with their sockets. */
  get channels(): ReadonlyMap<string, ReadonlySet<Socket<Outgoing, Data>>> {
    return this[CONTEXT].hub.channels as ReadonlyMap<string, ReadonlySet<Socket<Outgoing, Data>>>;
  }

  /** @param name stands in the metrics as a cause of waking */
  protected deadline(name: string, run: (nowMs: number) => void, options?: DeadlineOptions): Deadline {
    const deadline = this[CONTEXT].deadlines.add(name, run, options);
    this.#deadlines.add(deadline);
    return deadline;
  }

  /**
   * Repeats work while the namespace has a socket, once in each period of `ms` milliseconds: lateness moves no later run, and runs that were
   * missed are not made up for. The object may sleep in between. Called in `onStart`, because intervals end with their instance.
   * @param name stands in the log, and in the metrics as a cause of waking
   * @param work while it goes on, the next run is left out
   * @returns a function that ends it
   */
  protected every(name: string, ms: number, work: (nowMs: number) => unknown): () => void {
    if (!(ms > 0 && ms < Infinity)) throw new RangeError(`every: ${name}: more than 0 ms, not ${ms}`);
    const { hub, deadlines, failures, phase, now } = this[CONTEXT];
    const run = (nowMs: number): void | Promise<void> =>
      failures.run(`failed in ${hub.nsp}: ${name}`, () => work(nowMs));
    const deadline = this.deadline(name, (nowMs) => interval.fire(nowMs));
    const interval = new Interval({ ms, phase, run }, deadline);
    this[INTERVALS].add(interval);
    if (hub.sockets.size > 0) interval.begin(now());
    return () => {
      deadlines.remove(deadline);
      this.#deadlines.delete(deadline);
      this[INTERVALS].delete(interval);
    };
  }

  /** All its sockets. */
  override get [SELECTED](): Broadcasts<Outgoing, Data>[typeof SELECTED] {
    return { hub: this[CONTEXT].hub, audience: {} };
  }

  /**
   * Emits an event once per list of arguments, in order, as one burst per recipient.
   * @param seqs their places in the namespace's own recovery log
   */
  protected emitAll<Event extends EventName<Outgoing>>(
    event: Event,
    argLists: ReadonlyArray<EventArgs<Outgoing, Event>>,
    seqs?: readonly number[],
  ): void {
    this[CONTEXT].hub.emitAll({}, event, argLists, seqs);
  }

  /**
   * Emits to the same namespace in other rooms, at most once: SIO-12. Failures are logged.
   * @throws Error for a name that no room can have, for more than `SERVER_SIDE_ROOMS_MAX`, or if the application gives no `rooms`
   */
  serverSideEmit<Event extends EventName<Between>>(
    rooms: string | readonly string[],
    event: Event,
    ...args: EventArgs<Between, Event>
  ): true {
    this[CONTEXT].serverSide.emit([rooms].flat(), { nsp: this[CONTEXT].hub.nsp, event, args });
    return true;
  }

  /**
   * The same, and waits for the return values of their handlers, in the order of `rooms`. Rejects when one is missing after
   * `SERVER_SIDE_WAIT_MS`, or a room has no handler; the error's `responses` holds those that arrived.
   */
  async serverSideEmitWithAck<Event extends EventName<Between>>(
    rooms: string | readonly string[],
    event: Event,
    ...args: EventArgs<Between, Event>
  ): Promise<Array<Awaited<ReturnType<Between[Event]>>>> {
    const { serverSide, hub } = this[CONTEXT];
    const answers = await serverSide.emitWithAck([rooms].flat(), { nsp: hub.nsp, event, args });
    return answers as Array<Awaited<ReturnType<Between[Event]>>>;
  }
}
