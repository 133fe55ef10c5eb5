// The declarations of a simulation: its people, its invariants, its faults. Passed to `simulation` (../simulation.ts).
import type { ManagerOptions, Socket, SocketOptions } from "socket.io-client";

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

/** One of the people of a run: a stock client with a network connection of its own. */
export interface Person<Memory = unknown> {
  /** The kind and a number: `writer1`. */
  readonly name: string;
  readonly kind: string;
  /** The name of its object. */
  readonly room: string;
  /** What this run remembers. */
  readonly memory: Memory;
  /** The socket of socket.io-client; another one after the fault `reload`. */
  readonly socket: Socket;
  readonly isConnected: boolean;
  /** Since the run began, in milliseconds. */
  readonly nowMs: number;
  /** Connects, as everybody does once in each run. */
  open(): void;
  /** Disconnects on purpose. */
  close(): void;
  /** Emits. Without a connection the client emits it with the next one. */
  emit(event: string, ...args: readonly unknown[]): void;
  /** Emits, and waits for the ack. @returns its first argument; `undefined` without one in 10 s: then nobody knows whether the event arrived */
  ask<Answer = unknown>(event: string, ...args: readonly unknown[]): Promise<Answer | undefined>;
  wait(ms: number): Promise<void>;
}

/**
 * Something that a person does. An error that it throws counts as trouble.
 * @param chance random numbers of this step, which stay the same when a plan is shrunk
 */
export type Step<Memory> = (person: Person<Memory>, chance: Chance) => void | Promise<void>;

/** People who do the same things. */
export interface ClientKind<Memory> {
  /** How many there are, or at least and at most. Default: `[1, 3]`. */
  readonly people?: number | readonly [min: number, max: number];
  /** Default: `path: "/rooms/ROOM/socket.io"`, and no auth. */
  readonly open?: (person: Pick<Person<Memory>, "name" | "room">) => ClientOptions;
  /** Called with each new socket, before it connects: the place for listeners. */
  readonly listen?: (person: Person<Memory>) => void;
  /** Each happens as often as any other. */
  readonly steps: Readonly<Record<string, Step<Memory>>>;
  /** Of one person. Default: 20. */
  readonly stepsPerMinute?: number;
  /** Each person uses one of them. Default: all. */
  readonly transports?: readonly Transport[];
}

/** An object as an invariant sees it. */
export interface CheckedObject {
  /** What is stored, with what is not durable yet; none while there is no such table. */
  readonly rows: <Of extends Row = Row>(query: string, ...bindings: readonly Value[]) => Of[];
  /** Its instance, unless it sleeps. */
  readonly instance: object | undefined;
  /** How often it began: once, and after each sleep and each death. */
  readonly lives: number;
}

/** A run as an invariant sees it. */
export interface Checked<Memory> {
  readonly memory: Memory;
  readonly people: ReadonlyArray<Person<Memory>>;
  /** The names of the objects. */
  readonly rooms: readonly string[];
  readonly object: (room: string) => CheckedObject;
  /** What must be true; if it is not, the message says what is wrong. */
  readonly demand: (isTrue: boolean, message: string) => void;
}

/** An error that it throws counts as a demand that is not met. */
export type Invariant<Memory> = (run: Checked<Memory>) => void;

/** The same, and it may ask people, who are all connected. */
export type InvariantAtRest<Memory> = (run: Checked<Memory>) => void | Promise<void>;

/** `reload`: a person forgets all but its name, and connects anew. */
export type DeclaredFault = FaultKind | "reload";

export interface SimulationOptions<Memory = undefined> {
  /** The names of the objects that people connect to. Default: `["a"]`. */
  readonly rooms?: readonly string[];
  readonly clients: Readonly<Record<string, ClientKind<Memory>>>;
  /** Makes what a run remembers. People write it, invariants read it. */
  readonly memory?: () => Memory;
  /** Checked after each event, and at rest. */
  readonly invariants?: Readonly<Record<string, Invariant<Memory>>>;
  /** Checked when all faults have ended, everybody is connected, and nothing has happened for two minutes. */
  readonly atRest?: Readonly<Record<string, InvariantAtRest<Memory>>>;
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
  /** Answers what objects and Worker `fetch` elsewhere. Default: an error. */
  readonly internet?: (request: Request) => Response | Promise<Response>;
  /** Texts of `console.error`, and of errors, that are no trouble. */
  readonly tolerated?: RegExp;
  /** Whether an object has to sleep for good once everybody has left. Default: true. */
  readonly comesToRest?: boolean;
}
