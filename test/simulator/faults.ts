// Starts and ends the faults of a plan. Called by run.ts.
import type { ObjectHost } from "../kit/simulator/object-host.ts";
import type { Fault } from "./plan.ts";
import type { Run } from "./run.ts";
import { StockPerson } from "./stock-person.ts";

export class Faults {
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  inject(fault: Fault): void {
    if (this.#do(fault)) this.#run.note(`fault ${fault.fault}`, fault);
  }

  /** Everything works again. */
  cease(): void {
    const { deployment, people } = this.#run;
    deployment.callsFail = false;
    deployment.isChaos = false;
    deployment.commitMs = this.#run.plan.commitMs;
    for (const host of deployment.hosts.values()) {
      this.#setFailure(host, undefined);
      host.alarmLateMs = 0;
      this.#setSkew(host, 0);
    }
    for (const person of people) {
      const { link, zone, plan } = person;
      person.isCalm = true;
      [link.minMs, link.maxMs] = plan.latencyMs;
      link.isOffline = false;
      link.lossProbability = 0;
      zone.skewMs = 0;
    }
  }

  #later(ms: number, undo: () => void): true {
    const { world } = this.#run;
    world.after(ms, world.nowhere, undo);
    return true;
  }

  /** @returns whether it came to anything */
  #do(fault: Fault): boolean {
    const { deployment, network, world } = this.#run;
    const host = "room" in fault ? deployment.room(fault.room) : undefined;
    const person = "who" in fault ? this.#run.person(fault.who) : undefined;
    if ("who" in fault && !person) return false;
    switch (fault.fault) {
      case "crash":
        return this.#crash(host!, fault);
      case "sleep":
        if (!host!.canSleep) return false;
        host!.sleep();
        return true;
      case "cut": {
        const connections = network.connectionsOf(fault.who);
        for (const connection of connections) connection.cut(fault);
        return connections.length > 0;
      }
      case "storm": {
        const connections = network.connectionsTo(host!);
        for (const connection of connections) connection.cut({ client: true, server: fault.server });
        return connections.length > 0;
      }
      case "offline":
        person!.link.isOffline = true;
        for (const connection of network.connectionsOf(fault.who)) connection.cut({ client: false, server: false });
        return this.#later(fault.forMs, () => (person!.link.isOffline = false));
      case "slow":
        person!.link.minMs = fault.latencyMs / 4;
        person!.link.maxMs = fault.latencyMs;
        return this.#later(fault.forMs, () => ([person!.link.minMs, person!.link.maxMs] = person!.plan.latencyMs));
      case "loss":
        person!.link.lossProbability = 0.3;
        return this.#later(fault.forMs, () => (person!.link.lossProbability = 0));
      case "clock":
        this.#setSkew(host!, fault.skewMs);
        return true;
      case "client-clock":
        person!.zone.skewMs = fault.skewMs;
        return true;
      case "late-alarms":
        host!.alarmLateMs = fault.lateMs;
        host!.arm();
        return this.#later(fault.forMs, () => (host!.alarmLateMs = 0));
      case "storage-fails":
        this.#setFailure(host!, new Error("disk I/O error"));
        return this.#later(fault.forMs, () => this.#setFailure(host!, undefined));
      case "storage-slow":
        deployment.commitMs = [fault.commitMs / 2, fault.commitMs];
        return this.#later(fault.forMs, () => (deployment.commitMs = this.#run.plan.commitMs));
      case "old-offset":
        return person instanceof StockPerson && world.within(person.zone, () => person.forget(fault.back));
      case "foreign-offset":
        return person instanceof StockPerson && world.within(person.zone, () => person.confuse());
      case "calls-fail":
        deployment.callsFail = true;
        return this.#later(fault.forMs, () => (deployment.callsFail = false));
      case "queue-chaos":
        deployment.isChaos = true;
        return this.#later(fault.forMs, () => (deployment.isChaos = false));
      case "drain":
        world.within(world.nowhere, () => deployment.call(host!, "drain", [fault.withinMs])).catch(() => {});
        return true;
      case "delete":
        return this.#delete(host!);
    }
  }

  #setSkew(host: ObjectHost, skewMs: number): void {
    const { witness, world } = this.#run;
    if (host.skewMs !== skewMs) {
      witness.silences.clockJumped(host.name, world.nowMs + host.skewMs);
      witness.ruling.clockJumped(host.name);
    }
    host.skewMs = skewMs;
  }

  /** A room that wakes meanwhile fails to start and loses its connections with their attachments, as in a crash. */
  #setFailure(host: ObjectHost, failure: Error | undefined): void {
    if (host.storage.failure !== failure) this.#run.witness.died(host.name);
    host.storage.failure = failure;
  }

  #crash(host: ObjectHost, { keeps, isNoticed }: Extract<Fault, { fault: "crash" }>): boolean {
    if (!host.instance) return false;
    host.die(keeps, isNoticed);
    return true;
  }

  #delete(host: ObjectHost): boolean {
    const { deployment, world, people, witness } = this.#run;
    // Only welcomed clients know a room that has stored nothing yet.
    for (const { plan, epoch } of people) if (plan.room === host.name && epoch) witness.log(host.name, epoch);
    witness.deleted(host.name);
    world.within(world.nowhere, () => deployment.call(host, "deleteRoom", [])).catch(() => {});
    return true;
  }
}
