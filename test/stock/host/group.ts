// Objects in memory that are one server, by the siblings of `parley-rooms/engine`, or as servers on Node by socket.io's adapter with heartbeats.
// Called by siblings.test.ts.
import type { Server } from "socket.io";
import { ClusterAdapter, ClusterAdapterWithHeartbeat } from "socket.io-adapter";

import { siblingAdapter } from "../../../src/stock/sibling-adapter.ts";
import type { CallSibling, SiblingCall } from "../../../src/stock/sibling-link.ts";
import { Siblings } from "../../../src/stock/siblings.ts";
import { settle, StockObject, type StockClient } from "./stock-object.ts";

export interface Member {
  readonly object: StockObject;
  enter(nsp?: string): Promise<StockClient>;
}
export interface Group {
  readonly members: readonly Member[];
  close(): void;
}

export async function nodeGroup(count: number, register: (io: Server) => void): Promise<Group> {
  type Message = Parameters<ClusterAdapterWithHeartbeat["onMessage"]>[0];
  const bus = new Map<string, Set<(message: Message) => void>>();
  class BusAdapter extends ClusterAdapterWithHeartbeat {
    readonly #own = (message: Message): void => this.onMessage(structuredClone(message));

    constructor(nsp: { name: string }) {
      super(nsp, {});
      const all = bus.get(nsp.name) ?? new Set();
      bus.set(nsp.name, all.add(this.#own));
    }

    doPublish(message: Message): Promise<string> {
      const copy = structuredClone(message);
      for (const take of bus.get(this.nsp.name)!) if (take !== this.#own) setImmediate(() => take(copy));
      return Promise.resolve("");
    }

    doPublishResponse(_uid: string, response: never): Promise<void> {
      return this.doPublish(response).then(() => undefined);
    }

    override close(): void {
      bus.get(this.nsp.name)!.delete(this.#own);
      super.close();
    }
  }
  const objects = Array.from(
    { length: count },
    () => new StockObject(register, { options: { adapter: BusAdapter as never } }),
  );
  await settle();
  return {
    members: objects.map((object) => ({ object, enter: (nsp) => object.join(nsp) })),
    close: () => {
      for (const { io } of objects) for (const { adapter } of io._nsps.values()) void adapter.close();
    },
  };
}

export class Sibling implements Member {
  readonly object: StockObject;
  readonly siblings: Siblings;
  /** Calls that have come from others. */
  readonly calls: SiblingCall[] = [];
  /** What happens to calls instead, if anything. */
  trouble: (() => Promise<never>) | undefined;
  /** Timers that wait. */
  readonly timers = new Map<() => void, number>();

  constructor(name: string, ways: () => ReadonlyMap<string, CallSibling>, register: (io: Server) => void) {
    this.siblings = new Siblings(name, {
      now: () => 1_000_000,
      newId: () => `mark of ${name} `,
      siblings: ways,
      report: (problem, error) => this.object.problems.push(`${problem}: ${String(error)}`),
      after: (ms, run) => {
        this.timers.set(run, ms);
        return () => this.timers.delete(run);
      },
    });
    const adapter = siblingAdapter(ClusterAdapter, this.siblings);
    this.object = new StockObject(register, { options: { adapter: adapter as never }, own: { bundles: true } });
    this.object.engine.onPresence = (hasClients) => {
      if (hasClients) void this.siblings.enter();
      else this.siblings.leave();
    };
  }

  /** A call arrives as the platform would carry it: as a copy, and later. */
  async call(call: SiblingCall): Promise<Awaited<ReturnType<CallSibling>>> {
    const copy = structuredClone(call);
    await new Promise((resolve) => void setImmediate(resolve));
    this.calls.push(copy);
    if (this.trouble) return this.trouble();
    return this.siblings.receive(copy);
  }

  async enter(nsp?: string): Promise<StockClient> {
    await this.siblings.enter();
    return this.object.join(nsp);
  }

  /** Lets timers of so many milliseconds ring. */
  ring(ms: number): void {
    for (const [run, waits] of this.timers) if (waits === ms && this.timers.delete(run)) run();
  }
}

export function siblingGroup(count: number, register: (io: Server) => void): { members: Sibling[]; close(): void } {
  const members: Sibling[] = [];
  const ways = (): ReadonlyMap<string, CallSibling> =>
    new Map(members.map((member, at) => [`object-${at}`, stubOf(member)]));
  for (let at = 0; at < count; at++) members.push(new Sibling(`object-${at}`, ways, register));
  return { members, close: () => {} };
}

/** As the stub of an object, it stays broken once a call has failed. */
function stubOf(member: Sibling): CallSibling {
  let failure: Promise<never> | undefined;
  return async (call) => {
    if (failure) return failure;
    try {
      return await member.call(call);
    } catch (error) {
      failure = Promise.reject(error);
      return failure;
    }
  };
}
