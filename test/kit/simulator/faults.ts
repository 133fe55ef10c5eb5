// The faults that may happen to any object and any client: carries them out, and ends them. Called by the run of a plan.
import type { Link } from "./connection.ts";
import type { Deployment } from "./deployment.ts";
import type { Network } from "./network.ts";
import type { ObjectHost } from "./object-host.ts";
import { PLANNED } from "./planned.ts";
import type { World, Zone } from "./world.ts";

/** By kind. `room` is the name of an object, `who` that of a client; times are in milliseconds, `atMs` since the run began. */
export type Fault = { readonly atMs: number } & (
  | { readonly fault: "crash"; readonly room: string; readonly keeps: boolean; readonly isNoticed: boolean }
  | { readonly fault: "sleep"; readonly room: string }
  /** Storage goes back to its state of this moment, `forMs` later. */
  | { readonly fault: "restore"; readonly room: string; readonly forMs: number }
  | { readonly fault: "storage-fails"; readonly room: string; readonly forMs: number }
  | { readonly fault: "storage-slow"; readonly room: string; readonly commitMs: number; readonly forMs: number }
  | { readonly fault: "late-alarms"; readonly room: string; readonly lateMs: number; readonly forMs: number }
  /** No timer fires meanwhile, while messages and calls come in. */
  | { readonly fault: "late-timers"; readonly room: string; readonly forMs: number }
  | { readonly fault: "clock"; readonly room: string; readonly skewMs: number }
  /** All connections of the room break. */
  | { readonly fault: "storm"; readonly room: string; readonly server: boolean }
  | { readonly fault: "cut"; readonly who: string; readonly client: boolean; readonly server: boolean }
  | { readonly fault: "offline"; readonly who: string; readonly forMs: number }
  | { readonly fault: "slow"; readonly who: string; readonly latencyMs: number; readonly forMs: number }
  | { readonly fault: "loss"; readonly who: string; readonly forMs: number }
  | { readonly fault: "client-clock"; readonly who: string; readonly skewMs: number }
  | { readonly fault: "calls-fail"; readonly forMs: number }
  | { readonly fault: "queue-chaos"; readonly forMs: number }
);

export type FaultKind = Fault["fault"];

/** The share of requests or answers that a lossy line loses. */
const LOSS = 0.3;

/** A client that faults may meet. */
export interface Faulted {
  readonly plan: { readonly name: string; readonly latencyMs: readonly [min: number, max: number] };
  readonly link: Link;
  readonly zone: Zone;
}

export interface FaultsOptions {
  readonly world: World;
  readonly network: Network;
  readonly deployment: Deployment;
  readonly people: readonly Faulted[];
  /** The object of a room. */
  readonly hostOf: (room: string) => ObjectHost;
  /** Called just before something happens that an observer of the object has to know, and just after it. */
  readonly before?: (what: "clock" | "storage" | "restore", host: ObjectHost) => void;
  readonly after?: (what: "restore", host: ObjectHost) => void;
}

export class Faults {
  readonly #options: FaultsOptions;
  readonly #commitMs: readonly [min: number, max: number];

  constructor(options: FaultsOptions) {
    this.#options = options;
    this.#commitMs = options.deployment.commitMs;
  }

  /** Everything works again. */
  cease(): void {
    const { deployment, people } = this.#options;
    deployment.callsFail = false;
    deployment.commitMs = this.#commitMs;
    for (const queue of deployment.queues) queue.fails = queue.isChaos = false;
    for (const host of deployment.hosts.values()) {
      this.#setFailure(host, undefined);
      this.#setSkew(host, 0);
      host.alarmLateMs = 0;
    }
    for (const { link, zone, plan } of people) {
      [link.minMs, link.maxMs] = plan.latencyMs;
      link.isOffline = false;
      link.lossProbability = 0;
      zone.skewMs = 0;
    }
  }

  /** @returns whether it came to anything */
  inject(fault: Fault): boolean {
    if ("who" in fault) {
      const person = this.#options.people.find(({ plan }) => plan.name === fault.who);
      return person !== undefined && this.#atClient(fault, person);
    }
    return "room" in fault ? this.#atObject(fault, this.#options.hostOf(fault.room)) : this.#between(fault);
  }

  #atClient(fault: Extract<Fault, { who: string }>, { link, zone, plan }: Faulted): boolean {
    const connections = this.#options.network.connectionsOf(fault.who);
    switch (fault.fault) {
      case "cut":
        for (const connection of connections) connection.cut(fault);
        return connections.length > 0;
      case "offline":
        link.isOffline = true;
        for (const connection of connections) connection.cut({ client: false, server: false });
        return this.#later(fault.forMs, () => (link.isOffline = false));
      case "slow":
        link.minMs = fault.latencyMs / 4;
        link.maxMs = fault.latencyMs;
        return this.#later(fault.forMs, () => ([link.minMs, link.maxMs] = plan.latencyMs));
      case "loss":
        link.lossProbability = LOSS;
        return this.#later(fault.forMs, () => (link.lossProbability = 0));
      case "client-clock":
        zone.skewMs = fault.skewMs;
        return true;
    }
  }

  #atObject(fault: Extract<Fault, { room: string }>, host: ObjectHost): boolean {
    const { deployment, network, world } = this.#options;
    switch (fault.fault) {
      case "crash":
        if (!host.instance) return false;
        host.die(fault.keeps, fault.isNoticed);
        return true;
      case "sleep":
        if (!host.canSleep) return false;
        host.sleep();
        return true;
      case "restore":
        return this.#restore(host, fault.forMs);
      case "storage-fails":
        this.#setFailure(host, new Error(PLANNED.storage));
        return this.#later(fault.forMs, () => this.#setFailure(host, undefined));
      case "storage-slow":
        deployment.commitMs = [fault.commitMs / 2, fault.commitMs];
        return this.#later(fault.forMs, () => (deployment.commitMs = this.#commitMs));
      case "late-alarms":
        host.alarmLateMs = fault.lateMs;
        host.arm();
        return this.#later(fault.forMs, () => (host.alarmLateMs = 0));
      case "late-timers":
        host.zone.timersFromMs = world.nowMs + fault.forMs;
        return host.instance !== undefined;
      case "clock":
        this.#setSkew(host, fault.skewMs);
        return true;
      case "storm": {
        const connections = network.connectionsTo(host);
        for (const connection of connections) connection.cut({ client: true, server: fault.server });
        return connections.length > 0;
      }
    }
  }

  #between(fault: Exclude<Fault, { room: string } | { who: string }>): boolean {
    const { deployment } = this.#options;
    const { queues } = deployment;
    switch (fault.fault) {
      case "calls-fail":
        deployment.callsFail = true;
        for (const queue of queues) queue.fails = true;
        return this.#later(fault.forMs, () => {
          deployment.callsFail = false;
          for (const queue of queues) queue.fails = false;
        });
      case "queue-chaos":
        for (const queue of queues) queue.isChaos = true;
        return this.#later(fault.forMs, () => {
          for (const queue of queues) queue.isChaos = false;
        });
    }
  }

  #later(ms: number, undo: () => void): true {
    const { world } = this.#options;
    world.after(ms, world.nowhere, undo);
    return true;
  }

  #setSkew(host: ObjectHost, skewMs: number): void {
    if (host.skewMs !== skewMs) this.#options.before?.("clock", host);
    host.skewMs = skewMs;
  }

  /** An object that wakes meanwhile fails to start and loses its connections with their attachments, as in a crash. */
  #setFailure(host: ObjectHost, failure: Error | undefined): void {
    if (host.storage.failure !== failure) this.#options.before?.("storage", host);
    host.storage.failure = failure;
  }

  #restore(host: ObjectHost, afterMs: number): true {
    const backup = host.storage.backup();
    return this.#later(afterMs, () => {
      this.#options.before?.("restore", host);
      host.die(false, true, backup);
      this.#options.after?.("restore", host);
    });
  }
}
