// Which namespaces a server has: those it names, and those it makes when somebody asks for one that a rule
// lets through. Unknown ones are refused (SIO-3).
import { isReservedEvent } from "../wire/socket-io.ts";
import type { Deadlines } from "../../clock/deadlines.ts";
import { Hub } from "./hub.ts";
import type { ConnectRequest, Namespace, NamespaceContext } from "./namespace.ts";
import type { Outbox } from "../engine/outbox.ts";
import { Recovery } from "../recovery/recovery.ts";
import type { Session } from "../engine/session.ts";
import type { Socket } from "./socket.ts";

/** A namespace made on demand. It goes when its last socket goes (SIO-10). */
export interface DynamicNamespace {
  /** A pattern for the whole name, or a decision about one CONNECT. */
  readonly match: RegExp | ((request: ConnectRequest) => boolean | Promise<boolean>);
  readonly create: (nsp: string) => Namespace;
}

export interface NamespaceTable {
  /** By name; `/` is the main one. */
  readonly static: Readonly<Record<string, Namespace>>;
  /** Asked in order. */
  readonly dynamic?: readonly DynamicNamespace[];
}

/** A namespace in service. Its handlers stand in a Map: event names come from clients, `__proto__` too. */
export interface Seat {
  readonly namespace: Namespace;
  readonly hub: Hub;
  readonly handlers: ReadonlyMap<string, (socket: Socket, ...args: unknown[]) => unknown>;
  readonly recovery?: Recovery;
  /** Sessions whose CONNECT waits for its verdict: the namespace stays for them, though nobody is in it. */
  readonly waiting: Set<Session>;
  /** The place of its rule in the table, where it was made on demand. */
  readonly rule?: number;
  /** The epoch of its recovery log, once somebody was let in. */
  epoch?: string;
}

/** Namespaces made on demand that may be in service at once. */
export const DYNAMIC_NAMESPACES_MAX = 1000;

export class Namespaces {
  readonly #table: NamespaceTable;
  readonly #context: Omit<NamespaceContext, "hub"> & { readonly outbox: Outbox; readonly deadlines: Deadlines };
  readonly #seats = new Map<string, Seat>();
  /** Which namespace writes a recovery log, by the log's epoch. */
  readonly #writers = new Map<string, string>();
  #isAwake = false;

  constructor(
    table: NamespaceTable,
    context: Omit<NamespaceContext, "hub"> & { readonly outbox: Outbox; readonly deadlines: Deadlines },
  ) {
    this.#table = table;
    this.#context = context;
    const seats = Object.entries(table.static).map(([nsp, namespace]) => this.#seat(nsp, namespace));
    // A namespace that alone keeps a log shares its log with nobody: that one is not asked for its name before somebody comes.
    const writers = seats.filter(({ recovery }) => recovery);
    if (writers.length > 1 || table.dynamic !== undefined) for (const seat of writers) this.occupy(seat);
  }

  get(nsp: string): Seat | undefined {
    return this.#seats.get(nsp);
  }

  /** All sockets that are still there are back. */
  wake(): void {
    this.#isAwake = true;
    for (const { namespace } of this.#seats.values()) this.#wakeOne(namespace);
  }

  #wakeOne(namespace: Namespace): void {
    try {
      namespace.onWake?.();
    } catch (error) {
      this.#context.report("onWake failed", error);
    }
  }

  /** The namespace that a socket slept in; made again if it was made on demand. */
  restore(nsp: string, rule: number | undefined): Seat | undefined {
    const seat = this.#seats.get(nsp) ?? (rule === undefined ? undefined : this.#make(nsp, rule));
    if (seat) this.occupy(seat);
    return seat;
  }

  /**
   * Finds or makes the namespace of a CONNECT, which waits in it until `giveUp`. Asynchronous only where a rule is.
   */
  find(request: ConnectRequest, session: Session): Seat | undefined | Promise<Seat | undefined> {
    const seat = this.#seats.get(request.nsp);
    return seat ? wait(seat, session) : this.#ask(request, session, 0);
  }

  /** The CONNECT was decided, or its session went: it waits no more. */
  giveUp(nsp: string, session: Session): void {
    this.#seats.get(nsp)?.waiting.delete(session);
    this.release(nsp);
  }

  /** Somebody is let in. @throws Error where another namespace writes the same recovery log */
  occupy(seat: Seat): void {
    const { recovery, hub } = seat;
    if (!recovery || seat.epoch !== undefined) return;
    const { epoch } = recovery.log;
    const writer = this.#writers.get(epoch);
    if (writer !== undefined)
      throw new Error(`namespaces ${writer} and ${hub.nsp} share one recovery log: name each its own`);
    this.#writers.set(epoch, hub.nsp);
    seat.epoch = epoch;
  }

  #ask(request: ConnectRequest, session: Session, from: number): Seat | undefined | Promise<Seat | undefined> {
    const rules = this.#table.dynamic ?? [];
    for (let rule = from; rule < rules.length; rule++) {
      const verdict = matches(rules[rule]!, request);
      if (verdict instanceof Promise) {
        // It waits from the very moment: whoever else is refused meanwhile must not take the namespace away.
        return verdict.then((isMatch) => {
          if (session.closed) return undefined;
          return isMatch ? wait(this.#make(request.nsp, rule), session) : this.#ask(request, session, rule + 1);
        });
      }
      if (verdict) return wait(this.#make(request.nsp, rule), session);
    }
    return undefined;
  }

  #make(nsp: string, rule: number): Seat | undefined {
    const seated = this.#seats.get(nsp);
    if (seated) return seated;
    const create = this.#table.dynamic?.[rule]?.create;
    if (!create || this.#seats.size >= DYNAMIC_NAMESPACES_MAX) return undefined;
    return this.#seat(nsp, create(nsp), rule);
  }

  #seat(nsp: string, namespace: Namespace, rule?: number): Seat {
    const { log, windowMs } = namespace.recovery ?? {};
    const recovery = log && windowMs ? new Recovery(log, windowMs) : undefined;
    const hub = new Hub(nsp, this.#context.outbox, recovery, {
      ...(namespace.onChannelCreated && { channelCreated: (channel) => namespace.onChannelCreated?.(channel) }),
      ...(namespace.onChannelDeleted && { channelDeleted: (channel) => namespace.onChannelDeleted?.(channel) }),
      ...(namespace.onChannelJoined && {
        channelJoined: (channel, socket) => namespace.onChannelJoined?.(channel, socket),
      }),
      ...(namespace.onChannelLeft && { channelLeft: (channel, socket) => namespace.onChannelLeft?.(channel, socket) }),
      ...(namespace.onAnyOutgoing && {
        outgoing: (socket, event, args) => namespace.onAnyOutgoing?.(socket, event, args),
      }),
    });
    const handlers = handlersOf(nsp, namespace);
    const seat: Seat = {
      waiting: new Set(),
      namespace,
      hub,
      handlers,
      ...(recovery && { recovery }),
      ...(rule !== undefined && { rule }),
    };
    namespace.start({ ...this.#context, hub });
    this.#seats.set(nsp, seat);
    if (this.#isAwake) this.#wakeOne(namespace);
    return seat;
  }

  /** A socket went: a namespace made on demand goes with its last one. */
  release(nsp: string): void {
    const seat = this.#seats.get(nsp);
    if (!seat || seat.rule === undefined || seat.hub.sockets.size > 0 || seat.waiting.size > 0) return;
    this.#seats.delete(nsp);
    if (seat.epoch !== undefined) this.#writers.delete(seat.epoch);
    seat.namespace.stop();
    try {
      seat.recovery?.log.close?.();
    } catch (error) {
      this.#context.report(`the recovery log of ${nsp} could not be closed`, error);
    }
  }
}

/** @throws Error for one that no client could ever call: on Node such a name is the server's own event, here a method */
function handlersOf(nsp: string, { handlers }: Namespace): Seat["handlers"] {
  for (const event of Object.keys(handlers)) {
    if (isReservedEvent(event))
      throw new Error(`${nsp}: handlers.${event} is never called; use a method such as onDisconnect`);
  }
  return new Map(Object.entries(handlers));
}

function wait(seat: Seat | undefined, session: Session): Seat | undefined {
  seat?.waiting.add(session);
  return seat;
}

function matches({ match }: DynamicNamespace, request: ConnectRequest): boolean | Promise<boolean> {
  if (typeof match === "function") return match(request);
  // The whole name, whatever the pattern leaves open; and without the flags that remember a place or know lines.
  return new RegExp(`^(?:${match.source})$`, match.flags.replace(/[gmy]/g, "")).test(request.nsp);
}
