// The bindings in the `env` of simulated code: namespaces of objects, producers of queues. Made by deployment.ts.
import type { Chance } from "./chance.ts";
import { checkKind, objectIdOf, type ObjectId } from "./object-context.ts";

/** The exports of `cloudflare:workers` for the running deployment. */
interface Running {
  readonly env: object;
  readonly exports: object;
  waitUntil(work: Promise<unknown>): void;
}

let running: Running | undefined;

/** `cloudflare:workers` belongs to this deployment from now on. */
export function bindTo(deployment: Running): void {
  running = deployment;
}

export function runningDeployment(): Running {
  if (!running) throw new Error("no simulated deployment is running");
  return running;
}

/** How an object is reached. */
interface Reach {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly call: (method: string, args: readonly unknown[]) => Promise<unknown>;
}

/** `DurableObjectNamespace` */
export function namespaceOf(binding: string, chance: Chance, reach: (name: string) => Reach): object {
  const names = new Map<string, string>();
  const idFromName = (name: string): ObjectId => {
    const id = objectIdOf(binding, name);
    names.set(id.toString(), name);
    return id;
  };
  const byName = (name: string): object => objectStub(objectIdOf(binding, name), reach(name));
  return {
    idFromName,
    getByName: byName,
    get(id: ObjectId): object {
      const name = id.name ?? names.get(id.toString());
      if (name === undefined) throw new Error(`an id of no object of ${binding}`);
      return byName(name);
    },
    idFromString(hex: string): ObjectId {
      checkKind(binding, hex);
      return { toString: () => hex, equals: (other) => other.toString() === hex };
    },
    newUniqueId: () => idFromName(`unique ${chance.next()}`),
  };
}

/** `DurableObjectStub` */
const objectStub = (id: ObjectId, { fetch, call }: Reach): object =>
  stubOf(call, [
    ["id", id],
    ["name", id.name],
    ["fetch", (address: string | URL | Request, init?: RequestInit) => fetch(new Request(address, init))],
  ]);

/** Every method that it is asked for is a call, besides its own properties. */
export function stubOf(call: Reach["call"], properties: ReadonlyArray<readonly [string | symbol, unknown]>): object {
  // It is no promise.
  const own = new Map<string | symbol, unknown>([...properties, ["then", undefined]]);
  return new Proxy(
    {},
    {
      get: (_, name) =>
        own.has(name) ? own.get(name) : (...args: unknown[]): Promise<unknown> => call(String(name), args),
    },
  );
}

/** `Queue` */
export const producerOf = (send: (bodies: readonly unknown[]) => Promise<void>): object => ({
  send: (body: unknown) => send([body]),
  sendBatch: (messages: Iterable<{ readonly body: unknown }>) => send([...messages].map(({ body }) => body)),
});
