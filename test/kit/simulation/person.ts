// A simulated person with the stock socket.io-client, which is the real one; only its network is simulated. Made by run.ts.
import { Fetch, Manager, NodeWebSocket, type Socket } from "socket.io-client";

import type { Link } from "../simulator/connection.ts";
import type { World, Zone } from "../simulator/world.ts";
import { START_MS } from "../simulator/world.ts";
import type { ClientKind, Person } from "./options.ts";
import type { PlannedPerson } from "./plan.ts";

const ORIGIN = "http://simulated.example";

/** So long a person waits for an ack. */
const ASK_MS_MAX = 10_000;

const TRANSPORTS = { websocket: [NodeWebSocket], polling: [Fetch], upgrade: [Fetch, NodeWebSocket] };

export interface PersonOptions<Memory> {
  readonly world: World;
  readonly plan: PlannedPerson;
  readonly kind: ClientKind<Memory>;
  readonly memory: Memory;
  /** Of all people, from 1. */
  readonly place: number;
}

export class SimulatedPerson<Memory> implements Person<Memory> {
  readonly plan: PlannedPerson;
  readonly memory: Memory;
  readonly zone: Zone;
  readonly link: Link;
  readonly #world: World;
  readonly #declared: ClientKind<Memory>;
  #socket: Socket | undefined;
  /** Whether a namespace has let it in. */
  wasAdmitted = false;
  /** Why none has, last. */
  refusal: string | undefined;

  constructor({ world, plan, kind, memory, place }: PersonOptions<Memory>) {
    this.plan = plan;
    this.memory = memory;
    this.#world = world;
    this.#declared = kind;
    this.zone = world.makeZone(`client ${plan.name}`);
    const [minMs, maxMs] = plan.latencyMs;
    this.link = {
      client: plan.name,
      address: `192.0.2.${place}`,
      chance: this.zone.chance.branch("line"),
      minMs,
      maxMs,
      isOffline: false,
      lossProbability: 0,
    };
  }

  get name(): string {
    return this.plan.name;
  }

  get kind(): string {
    return this.plan.kind;
  }

  get room(): string {
    return this.plan.room;
  }

  get nowMs(): number {
    return this.#world.nowMs - START_MS;
  }

  get socket(): Socket {
    return (this.#socket ??= this.#make());
  }

  get isConnected(): boolean {
    return this.#socket?.connected ?? false;
  }

  #make(): Socket {
    const { name, room, plan } = this;
    const { namespace = "/", ...given } = this.#declared.open?.({ name, room }) ?? {};
    const { auth, ackTimeout, retries, ...ofManager } = given;
    const manager = new Manager(ORIGIN, {
      path: `/rooms/${room}/socket.io`,
      transports: TRANSPORTS[plan.transport],
      autoConnect: false,
      ...ofManager,
    });
    const ofSocket = Object.entries({ auth, ackTimeout, retries }).filter(([, value]) => value !== undefined);
    const socket = manager.socket(namespace, Object.fromEntries(ofSocket));
    this.#socket = socket;
    socket.on("connect", () => (this.wasAdmitted = true));
    socket.on("connect_error", ({ message }) => (this.refusal = message));
    this.#declared.listen?.(this);
    return socket;
  }

  open(): void {
    this.#within(() => {
      // A server that refused it, or closed it, may take it now.
      if (!this.socket.active) this.socket.connect();
    });
  }

  close(): void {
    this.#within(() => this.#socket?.disconnect());
  }

  /** Forgets everything but its name, and connects anew. */
  reload(): void {
    this.close();
    this.#socket = undefined;
    this.open();
  }

  emit(event: string, ...args: readonly unknown[]): void {
    this.#within(() => this.socket.emit(event, ...args));
  }

  async ask(event: string, ...args: readonly unknown[]): Promise<never> {
    // Its type is that of the event.
    const { promise, resolve } = Promise.withResolvers<never>();
    this.#within(() => {
      // The time limit's callback gets an error first.
      const hear = (error: Error | null, answer: unknown): void => resolve((error ? undefined : answer) as never);
      this.socket.timeout(ASK_MS_MAX).emit(event, ...args, hear);
    });
    return promise;
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#world.after(ms, this.zone, resolve));
  }

  #within<Result>(run: () => Result): Result {
    return this.#world.within(this.zone, run);
  }
}
