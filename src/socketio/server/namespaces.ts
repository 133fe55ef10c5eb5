// The namespaces of a server: those that the application names, and those made on demand for a CONNECT that a rule matches (SIO-10). Called
// by connects.ts, sockets.ts and server.ts.
import { isReservedEvent } from "../wire/socket-io.ts";
import type { Deadlines } from "../../clock/deadlines.ts";
import { isPromise } from "./failures.ts";
import { Hub } from "./hub.ts";
import { START, STOP, type ConnectRequest, type Namespace, type NamespaceContext } from "./namespace.ts";
import type { Effects } from "../engine/effects.ts";
import type { Recovery } from "../recovery/recovery.ts";
import type { Session } from "../engine/session.ts";
import type { Socket } from "./socket.ts";

/** A rule for namespaces that are made on demand. */
export interface DynamicNamespace {
  /** A pattern for the whole name, or a decision about one CONNECT. */
  readonly match: RegExp | ((request: ConnectRequest) => boolean | Promise<boolean>);
  readonly create: (nsp: string) => Namespace;
}

export interface NamespaceTable {
  /** By name; `/` is the main one. */
  readonly static: Readonly<Record<string, Namespace>>;
  /** Asked in order. */
  readonly dynamic?: readonly DynamicNamespace[] | undefined;
  /** Makes the recovery of namespaces that have none of their own. */
  readonly recovery?: ((nsp: string) => Recovery | undefined) | undefined;
}

/** A namespace in service. Its handlers are in a Map, because clients choose event names, such as `__proto__`. */
export interface NamespaceEntry {
  readonly namespace: Namespace;
  readonly hub: Hub;
  readonly handlers: ReadonlyMap<string, (socket: Socket, ...args: unknown[]) => unknown>;
  readonly recovery?: Recovery;
  /** Sessions whose CONNECT is being decided; the namespace stays for them. */
  readonly waiting: Set<Session>;
  /** The index of its rule in the table, if it was made on demand. */
  readonly rule?: number;
  /** The epoch of its recovery log, once it is active. */
  epoch?: string;
}

/** With so many namespaces in service, those that the application names among them, no further one is made on demand. */
export const DYNAMIC_NAMESPACES_MAX = 1000;

export class Namespaces {
  readonly #table: NamespaceTable;
  readonly #context: Omit<NamespaceContext, "hub"> & { readonly effects: Effects; readonly deadlines: Deadlines };
  readonly #entries = new Map<string, NamespaceEntry>();
  /** The namespace that writes a recovery log, by the log's epoch. */
  readonly #writers = new Map<string, string>();
  #isAwake = false;

  constructor(
    table: NamespaceTable,
    context: Omit<NamespaceContext, "hub"> & { readonly effects: Effects; readonly deadlines: Deadlines },
  ) {
    this.#table = table;
    this.#context = context;
    const entries = Object.entries(table.static).map(([nsp, namespace]) => this.#enter(nsp, namespace));
    // Checks that no two namespaces share a log. A single log is not asked for its epoch before the first CONNECT, because that may write.
    const writers = entries.filter(({ recovery }) => recovery);
    if (writers.length > 1 || table.dynamic !== undefined) for (const entry of writers) this.activate(entry);
  }

  get(nsp: string): NamespaceEntry | undefined {
    return this.#entries.get(nsp);
  }

  /** Called when all sockets that slept are restored. */
  wake(): void {
    this.#isAwake = true;
    for (const { namespace } of this.#entries.values()) this.#wakeOne(namespace);
  }

  /** Called when their server is no longer in use: another one may start them. */
  stop(): void {
    for (const { namespace, hub } of this.#entries.values()) {
      namespace[STOP]();
      hub.isOver = true;
    }
    this.#entries.clear();
  }

  #wakeOne(namespace: Namespace): void {
    try {
      namespace.onWake?.();
    } catch (error) {
      this.#context.report("onWake failed", error);
    }
  }

  /** @returns the namespace of a socket that slept; made again if it was made on demand */
  restore(nsp: string, rule: number | undefined): NamespaceEntry | undefined {
    const entry = this.#entries.get(nsp) ?? (rule === undefined ? undefined : this.#make(nsp, rule));
    if (entry) this.activate(entry);
    return entry;
  }

  /** Finds or makes the namespace of a CONNECT, which waits in it until `giveUp`. Asynchronous only if a rule is. */
  find(request: ConnectRequest, session: Session): NamespaceEntry | undefined | Promise<NamespaceEntry | undefined> {
    const entry = this.#entries.get(request.nsp);
    return entry ? wait(entry, session) : this.#ask(request, session, 0);
  }

  /** Called when the CONNECT was decided, or its session is over. */
  giveUp(nsp: string, session: Session): void {
    this.#entries.get(nsp)?.waiting.delete(session);
    this.release(nsp);
  }

  /** Called before the first socket is let in. @throws Error if another namespace writes the same recovery log */
  activate(entry: NamespaceEntry): void {
    const { recovery, hub } = entry;
    if (!recovery || entry.epoch !== undefined) return;
    const { epoch } = recovery.log;
    const writer = this.#writers.get(epoch);
    if (writer !== undefined) throw new Error(`namespaces ${writer} and ${hub.nsp} share one recovery log`);
    this.#writers.set(epoch, hub.nsp);
    entry.epoch = epoch;
  }

  #ask(
    request: ConnectRequest,
    session: Session,
    from: number,
  ): NamespaceEntry | undefined | Promise<NamespaceEntry | undefined> {
    const rules = this.#table.dynamic ?? [];
    for (let rule = from; rule < rules.length; rule++) {
      const isMatch = matches(rules[rule]!, request);
      if (isPromise(isMatch)) {
        // It waits from this moment: another CONNECT that is refused meanwhile must not remove the namespace.
        return Promise.resolve(isMatch).then((isAsyncMatch) => {
          if (session.closed) return undefined;
          return isAsyncMatch ? wait(this.#make(request.nsp, rule), session) : this.#ask(request, session, rule + 1);
        });
      }
      if (isMatch) return wait(this.#make(request.nsp, rule), session);
    }
    return undefined;
  }

  #make(nsp: string, rule: number): NamespaceEntry | undefined {
    const known = this.#entries.get(nsp);
    if (known) return known;
    const create = this.#table.dynamic?.[rule]?.create;
    if (!create || this.#entries.size >= DYNAMIC_NAMESPACES_MAX) return undefined;
    return this.#enter(nsp, create(nsp), rule);
  }

  #enter(nsp: string, namespace: Namespace, rule?: number): NamespaceEntry {
    const recovery = namespace.recovery ?? this.#table.recovery?.(nsp);
    const hub = new Hub(nsp, this.#context, recovery, namespace);
    const handlers = handlersOf(nsp, namespace);
    const entry: NamespaceEntry = {
      waiting: new Set(),
      namespace,
      hub,
      handlers,
      ...(recovery && { recovery }),
      ...(rule !== undefined && { rule }),
    };
    namespace[START]({ ...this.#context, hub });
    this.#entries.set(nsp, entry);
    if (this.#isAwake) this.#wakeOne(namespace);
    return entry;
  }

  /** Called when a socket, or a CONNECT that waited, is gone: removes a namespace made on demand that is empty. */
  release(nsp: string): void {
    const entry = this.#entries.get(nsp);
    if (!entry || entry.rule === undefined || entry.hub.sockets.size > 0 || entry.waiting.size > 0) return;
    this.#entries.delete(nsp);
    if (entry.epoch !== undefined) this.#writers.delete(entry.epoch);
    entry.namespace[STOP]();
    entry.hub.isOver = true;
    try {
      entry.recovery?.log.close?.();
    } catch (error) {
      this.#context.report(`the recovery log of ${nsp} could not be closed`, error);
    }
  }
}

/** @throws Error for a reserved name, which no client can send: on Node it is an event of the server, here a method */
function handlersOf(nsp: string, { handlers }: Namespace): NamespaceEntry["handlers"] {
  for (const event of Object.keys(handlers)) {
    if (isReservedEvent(event))
      throw new Error(`${nsp}: handlers.${event} is never called; use a method such as onDisconnect`);
  }
  return new Map(Object.entries(handlers));
}

function wait(entry: NamespaceEntry | undefined, session: Session): NamespaceEntry | undefined {
  entry?.waiting.add(session);
  return entry;
}

function matches({ match }: DynamicNamespace, request: ConnectRequest): boolean | Promise<boolean> {
  if (typeof match === "function") return match(request);
  // Matches the whole name, without the flags that keep a position or match per line.
  return new RegExp(`^(?:${match.source})$`, match.flags.replace(/[gmy]/g, "")).test(request.nsp);
}
