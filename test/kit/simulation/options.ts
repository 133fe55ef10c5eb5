// The declarations of a simulation: its people, its invariants, its faults. Passed to `simulation` (../simulation.ts).
import type { ManagerOptions, Socket, SocketOptions } from "socket.io-client";

import type { AnswerOf, EventArgs, EventName, EventsMap, QuestionArgs } from "../../../src/socketio/server/events.ts";
import type { ClientToServerOf, NamespaceType, ServerToClientOf } from "../../../src/socketio/wire/client-types.ts";
import type { Chance } from "../simulator/chance.ts";
import type { DeploymentOptions } from "../simulator/deployment.ts";
import type { FaultKind } from "../simulator/faults.ts";
import type { ObjectClass } from "../simulator/object-host.ts";
import type { Row, Value } from "../simulator/sql.ts";

/** How a client reaches its object: `upgrade` begins with long-polling, as stock clients do by default. */
export type Transport = "websocket" | "polling" | "upgrade";

/** As socket.io-client takes them. */
export interface ClientOptions extends Partial<ManagerOptions & SocketOptions> {
  /** Default: `/`. */
  readonly namespace?: string;
}

/** The events of a client: those that it gets, and those that it sends. */
export interface ClientEvents {
  readonly incoming: EventsMap;
  readonly outgoing: EventsMap;
}

/** Where an object declares none. */
export interface AnyEvents {
  readonly incoming: EventsMap;
  readonly outgoing: EventsMap;
}

/** The events of the clients of an object, by the type of its namespace `/`. */
export type EventsOf<Made> = Made extends { readonly namespaces: { readonly "/": infer Root extends NamespaceType } }
  ? { readonly incoming: ServerToClientOf<Root>; readonly outgoing: ClientToServerOf<Root> }
  : AnyEvents;

/** One of the people of a run: a stock client with a network connection of its own. */
export interface Person<Memory = unknown, Events extends ClientEvents = AnyEvents> {
  /** The kind and a number: `writer1`. */
  readonly name: string;
  readonly kind: string;
  /** The name of its object. */
  readonly room: string;
  /** The memory of this run. */
  readonly memory: Memory;
  /** The socket of socket.io-client; another one after the fault `reload`. */
  readonly socket: Socket<Events["incoming"], Events["outgoing"]>;
  readonly isConnected: boolean;
  /** Since the run began, in milliseconds. */
  readonly nowMs: number;
  /** Connects, as each person does once in each run. */
  open(): void;
  /** Disconnects on purpose. */
  close(): void;
  /** Emits. Without a connection the client emits it with the next one. */
  emit<Event extends EventName<Events["outgoing"]>>(event: Event, ...args: EventArgs<Events["outgoing"], Event>): void;
  /** Emits, and waits for the ack. @returns its first argument; `undefined` without one in 10 s: then it is unknown whether the event arrived */
  ask<Event extends EventName<Events["outgoing"]>>(
    event: Event,
    ...args: QuestionArgs<Events["outgoing"], Event>
  ): Promise<AnswerOf<Events["outgoing"], Event> | undefined>;
  wait(ms: number): Promise<void>;
}

/**
 * Something that a person does. An error that it throws counts as trouble.
 * @param chance random numbers of this step, which stay the same when a plan is shrunk
 */
export type Step<Memory, Events extends ClientEvents = AnyEvents> = (
  person: Person<Memory, Events>,
  chance: Chance,
) => void | Promise<void>;

/** People who do the same things. */
export interface ClientKind<Memory, Events extends ClientEvents = AnyEvents> {
  /** How many there are, or at least and at most. Default: `[1, 3]`. */
  readonly people?: number | readonly [min: number, max: number];
  /** Default: `path: "/rooms/ROOM/socket.io"`, and no auth. */
  readonly open?: (person: Pick<Person<Memory, Events>, "name" | "room">) => ClientOptions;
  /** Called with each new socket, before it connects: the place for listeners. */
  readonly listen?: (person: Person<Memory, Events>) => void;
  /** Each happens as often as any other. */
  readonly steps: Readonly<Record<string, Step<Memory, Events>>>;
  /** Of one person. Default: 20. */
  readonly stepsPerMinute?: number;
  /** Each person uses one of them. Default: all. */
  readonly transports?: readonly Transport[];
}

/** An object as an invariant sees it. */
export interface CheckedObject {
  /** The stored rows, with those that are not durable yet; none while there is no such table. */
  readonly rows: <Of extends Row = Row>(query: string, ...bindings: readonly Value[]) => Of[];
  /** Its instance, unless it sleeps. */
  readonly instance: object | undefined;
  /** How often it began: once, and after each sleep and each death. */
  readonly lives: number;
}

/** A run as an invariant sees it. */
export interface Checked<Memory, Events extends ClientEvents = AnyEvents> {
  readonly memory: Memory;
  readonly people: ReadonlyArray<Person<Memory, Events>>;
  /** The names of the objects. */
  readonly rooms: readonly string[];
  readonly object: (room: string) => CheckedObject;
  /** The condition that must hold; the message describes the failure. */
  readonly demand: (isTrue: boolean, message: string) => void;
}

/** An error that it throws counts as a demand that is not met. */
export type Invariant<Memory, Events extends ClientEvents = AnyEvents> = (run: Checked<Memory, Events>) => void;

/** The same, and it may ask people, who are all connected. */
export type InvariantAtRest<Memory, Events extends ClientEvents = AnyEvents> = (
  run: Checked<Memory, Events>,
) => void | Promise<void>;

/** `reload`: a person forgets all but its name, and connects anew. */
export type DeclaredFault = FaultKind | "reload";

export interface SimulationOptions<Memory = undefined, Events extends ClientEvents = AnyEvents> {
  /** The names of the objects that people connect to. Default: `["a"]`. */
  readonly rooms?: readonly string[];
  readonly clients: Readonly<Record<string, ClientKind<Memory, Events>>>;
  /** Makes the memory of a run. People write it, invariants read it. */
  readonly memory?: () => Memory;
  /** Checked after each event, and at rest. */
  readonly invariants?: Readonly<Record<string, Invariant<Memory, Events>>>;
  /** Checked when all faults have ended, all people are connected, and nothing has happened for two minutes. */
  readonly atRest?: Readonly<Record<string, InvariantAtRest<Memory, Events>>>;
  /** How often each fault happens in a minute, on average. Faults that are not named do not happen. Default: `FAULTS`. */
  readonly faults?: Readonly<Partial<Record<DeclaredFault, number>>>;
  /** How long people act and faults happen, in simulated milliseconds. Default: 30,000. */
  readonly durationMs?: number;
  /** Your Worker. Default: `connect` to the objects, without checks. */
  readonly worker?: { fetch: DeploymentOptions["worker"] };
  /** All objects of the Worker by binding, where the code looks for bindings. Default: the class alone, as `OBJECT`. */
  readonly objects?: Readonly<Record<string, ObjectClass>>;
  /** Variables and other bindings. */
  readonly env?: Readonly<Record<string, unknown>>;
  /** Consumers of queues, by binding: `{ JOBS: worker.queue }`. */
  readonly queues?: DeploymentOptions["queues"];
  /** Answers requests of objects and Worker to other servers. Default: an error. */
  readonly internet?: (request: Request) => Response | Promise<Response>;
  /** Texts of `console.error`, and of errors, that are no trouble. */
  readonly tolerated?: RegExp;
  /** Whether an object has to sleep for good once all people have left. Default: true. */
  readonly comesToRest?: boolean;
}
