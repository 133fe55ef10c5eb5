// The faults of a plan: those of the kit, and those that only the chat has. Called by run.ts.
import { Faults, type ObjectHost } from "../kit/simulation.ts";
import type { Fault } from "./plan.ts";
import type { Run } from "./run.ts";
import { StockPerson } from "./stock-person.ts";

/** Faults that the kit knows nothing of. */
type OwnFault = Extract<Fault, { fault: "old-offset" | "foreign-offset" | "drain" | "delete" | "shard-calls" }>;

const OWN: ReadonlySet<string> = new Set<OwnFault["fault"]>([
  "old-offset",
  "foreign-offset",
  "drain",
  "delete",
  "shard-calls",
]);

const isOwn = (fault: Fault): fault is OwnFault => OWN.has(fault.fault);

export class ChatFaults {
  readonly #run: Run;
  readonly #faults: Faults;

  constructor(run: Run) {
    this.#run = run;
    const { world, network, deployment, people, witness } = run;
    this.#faults = new Faults({
      world,
      network,
      deployment,
      people,
      hostOf: (room) => deployment.hostOf(room),
      before: (what, host) => {
        if (host.kind !== "CHAT_ROOM") return;
        if (what === "storage") return witness.died(host.name);
        if (what !== "clock") return;
        witness.silences.clockJumped(host.name, world.nowMs + host.skewMs);
        witness.ruling.clockJumped(host.name);
      },
      after: (what, host) => what === "restore" && this.#restored(host),
    });
  }

  #restored(host: ObjectHost): void {
    const { deployment, people, witness } = this.#run;
    const kept = deployment.restored(host);
    const there = people.filter(({ plan }) => plan.room === host.name);
    const chains = there.flatMap((person) => (person instanceof StockPerson ? [person.chain] : []));
    const restored = witness.restored(host.name, kept, chains);
    for (const person of there) person.restored(restored);
  }

  inject(fault: Fault): void {
    const isDone = isOwn(fault) ? this.#do(fault) : this.#faults.inject(fault);
    if (isDone) this.#run.note(`fault ${fault.fault}`, fault);
  }

  /** Everything works again. */
  cease(): void {
    this.#faults.cease();
    this.#run.deployment.shardCalls.cease();
    for (const person of this.#run.people) person.isCalm = true;
  }

  /** @returns whether it came to anything */
  #do(fault: OwnFault): boolean {
    const { deployment, world } = this.#run;
    switch (fault.fault) {
      case "old-offset":
        return this.#atStock(fault.who, (person) => person.forget(fault.back));
      case "foreign-offset":
        return this.#atStock(fault.who, (person) => person.confuse());
      case "drain": {
        const host = deployment.room(fault.room);
        world.within(world.nowhere, () => deployment.call(host, "drain", [fault.withinMs])).catch(() => {});
        return true;
      }
      case "delete":
        return this.#delete(deployment.room(fault.room));
      case "shard-calls": {
        const end = deployment.shardCalls.begin(fault.room, fault.how);
        world.after(fault.forMs, world.nowhere, end);
        return true;
      }
    }
  }

  #atStock(who: string, act: (person: StockPerson) => boolean): boolean {
    const person = this.#run.person(who);
    return person instanceof StockPerson && this.#run.world.within(person.zone, () => act(person));
  }

  #delete(host: ObjectHost): boolean {
    const { deployment, world, people, witness } = this.#run;
    // Only welcomed clients know a room that has stored nothing yet.
    for (const { plan, epoch } of people) if (plan.room === host.name && epoch) witness.log(host.name, epoch);
    witness.deleted(host.name);
    const end = (): void => witness.deletionEnded(host.name);
    world.within(world.nowhere, () => deployment.call(host, "deleteRoom", [])).then(end, end);
    return true;
  }
}
