// The server side of a run: the objects by binding and name, the calls between them, queues, and the Worker in front. Made for each run.
import { bindTo, namespaceOf, producerOf, stubOf } from "./bindings.ts";
import { ObjectHost, type HostListener, type ObjectClass } from "./object-host.ts";
import { PLANNED } from "./planned.ts";
import { Queue, type Batch } from "./queue.ts";
import { receivedOf, RpcSession } from "./rpc-session.ts";
import { isTracing, trace } from "./trace.ts";
import { webSocketOf } from "./http.ts";
import { START_MS, type World, type Zone } from "./world.ts";

/** The longest that a call is on its way, in each direction. */
const CALL_MS_MAX = 20;

/** The context of a request to the Worker, or of a batch. */
export interface WorkerContext {
  waitUntil(work: Promise<unknown>): void;
  passThroughOnException(): void;
  readonly exports: object;
  readonly props: object;
}

export interface DeploymentOptions {
  /** The classes of the objects, by binding. */
  readonly objects: Readonly<Record<string, ObjectClass>>;
  /** Variables and other bindings. */
  readonly env?: Readonly<Record<string, unknown>>;
  /** The consumers of queues, by binding. */
  readonly queues?: Readonly<Record<string, (batch: Batch, env: object, ctx: WorkerContext) => Promise<void>>>;
  /** Answers the requests of clients. */
  readonly worker: (request: Request, env: object, ctx: WorkerContext) => Response | Promise<Response>;
  /** How long until a write of an object is durable: at least, and at most. */
  readonly commitMs: readonly [min: number, max: number];
  /** How long an object must have been quiet to be put to sleep. */
  readonly sleepAfterMs: number;
  /** @param binding of the object */
  readonly listen?: (binding: string) => Partial<HostListener>;
}

/** What happens to one call between objects. */
export interface CallFate {
  /** The longest that it is on its way, in each direction. */
  readonly wayMsMax: number;
  /** It may fail on either way, with this probability each. */
  readonly failure: number;
  /** It arrives once more, so much later. */
  readonly againMs?: number;
  /** The caller gets an error at once, and it arrives so much later all the same. */
  readonly lateMs?: number;
}

/** How something is called at an object, with the answer or an error. */
type Send<Result> = (host: ObjectHost, reply: (result: Result | Error) => void) => void;

export class Deployment {
  readonly hosts = new Map<string, ObjectHost>();
  readonly world: World;
  readonly env: Readonly<Record<string, unknown>>;
  readonly queues: readonly Queue[];
  commitMs: readonly [min: number, max: number];
  /** Calls between objects may fail, before or after they arrive. */
  callsFail = false;
  readonly #options: DeploymentOptions;
  /** The namespaces of the objects, by class: `ctx.exports`. */
  readonly exports: Record<string, object> = {};
  readonly #context: WorkerContext;

  constructor(world: World, options: DeploymentOptions) {
    this.world = world;
    this.#options = options;
    this.commitMs = options.commitMs;
    this.#context = {
      waitUntil: (work) => this.waitUntil(work),
      passThroughOnException: () => {},
      exports: this.exports,
      props: {},
    };
    const queues = Object.entries(options.queues ?? {}).map(
      ([name, consume]) => new Queue(name, world, (batch) => consume(batch, this.env, this.#context)),
    );
    this.queues = queues;
    const namespaces = Object.entries(options.objects).map(([binding, make]) => {
      const namespace = this.#namespaceOf(binding);
      this.exports[make.name] ??= namespace;
      return [binding, namespace] as const;
    });
    this.env = {
      ...options.env,
      ...Object.fromEntries(namespaces),
      ...Object.fromEntries(queues.map((queue) => [queue.name, producerOf((bodies) => this.#enqueue(queue, bodies))])),
    };
  }

  waitUntil(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.world.onError(error));
  }

  /** The Worker. */
  answer(request: Request): Promise<Response> {
    return Promise.resolve(this.#options.worker(request, this.env, this.#context));
  }

  object(binding: string, name: string): ObjectHost {
    const key = `${binding} ${name}`;
    let host = this.hosts.get(key);
    if (!host) {
      host = this.#host(binding, name);
      this.hosts.set(key, host);
    }
    return host;
  }

  #host(binding: string, name: string): ObjectHost {
    const { objects, listen, sleepAfterMs } = this.#options;
    const make = objects[binding];
    if (!make) throw new Error(`the simulation has no objects ${binding}`);
    const chance = this.world.chance.branch(`commits of ${binding} ${name}`);
    const host = new ObjectHost(this.world, {
      kind: binding,
      name,
      make,
      env: this.env,
      exports: this.exports,
      listener: listen?.(binding) ?? {},
      commitMs: () => chance.between(...this.commitMs),
    });
    host.sleepAfterMs = sleepAfterMs;
    return host;
  }

  /** The bindings of `cloudflare:workers` are those of this deployment from now on. */
  enter(): void {
    bindTo({ env: this.env, exports: this.exports, waitUntil: (work) => this.waitUntil(work) });
  }

  /** To be called at the end of each event. */
  settle(): void {
    for (const host of this.hosts.values()) host.settle();
  }

  end(): void {
    for (const host of this.hosts.values()) host.end();
  }

  /** A binding of objects: stubs by name. */
  #namespaceOf(binding: string): object {
    return namespaceOf(binding, this.world.zone.chance, (name) => {
      const host = this.object(binding, name);
      return {
        fetch: (request) => this.fetch(host, request),
        call: (method, args) => this.call(host, method, args),
      };
    });
  }

  // ---- calls -----------------------------------------------------------------------------------------------

  /**
   * As one object calls another, or the Worker does: slow, and sometimes it fails on either way.
   * @param session of an earlier call, whose target is called
   */
  call(host: ObjectHost, method: string, args: readonly unknown[], session?: RpcSession): Promise<unknown> {
    const given = structuredClone(args);
    if (isTracing) trace(this.world.nowMs - START_MS, host.name, "<-", method, given);
    const { zone } = this.world;
    const { chance } = zone;
    const { wayMsMax, failure, againMs, lateMs } = this.fateOf(host, method);
    const wayMs = (): number => chance.between(0, wayMsMax);
    const fails = (): boolean => failure > 0 && chance.happens(failure);
    const arrive = (afterMs: number, answer: (result: unknown) => void): void =>
      void this.world.after(afterMs, this.world.nowhere, () => {
        if (session?.isThere === false) return answer(new Error(PLANNED.died));
        host.call((instance) => (session?.target ?? instance)[method]!(...structuredClone(given)), answer);
      });
    return this.#ask<unknown>(host, {
      wayMs,
      send: (_, reply) => {
        const fail = (message: string): void => {
          session?.end();
          reply(new Error(message));
        };
        if (session?.isOpen === false) return fail(PLANNED.died);
        if (fails()) return fail(PLANNED.network);
        const heardAgainMs = againMs ?? lateMs;
        const { lives } = host;
        // It dies with the object that it is on its way to.
        const arriveLate = (): void => (lives === host.lives ? arrive(0, () => {}) : undefined);
        if (heardAgainMs !== undefined) this.world.after(heardAgainMs, this.world.nowhere, arriveLate);
        if (lateMs !== undefined) return fail(PLANNED.network);
        arrive(wayMs(), (result) => {
          if (fails()) return fail(PLANNED.call);
          if (result instanceof Error) return reply(new Error(result.message));
          reply(this.#received(host, zone, result) ?? structuredClone(result));
        });
      },
    });
  }

  /** What the caller gets of an answer that begins a session. */
  #received(host: ObjectHost, caller: Zone, result: unknown): object | undefined {
    const open = (target: object): RpcSession => {
      const session = new RpcSession(target, { world: this.world, caller, callee: host.zone });
      host.sessions.add(session);
      return session;
    };
    return receivedOf(result, open, (session) =>
      stubOf((method, args) => this.call(host, method, args, session), [[Symbol.dispose, () => session.end()]]),
    );
  }

  /** Whether an object that has not died holds a session with another one. */
  holdsSession({ zone }: ObjectHost): boolean {
    return [...this.hosts.values()].some(({ sessions }) =>
      [...sessions].some(({ caller, isOpen }) => caller === zone && isOpen),
    );
  }

  /** Decides on a call: yours to override. */
  protected fateOf(_host: ObjectHost, _method: string): CallFate {
    return { wayMsMax: CALL_MS_MAX, failure: this.callsFail ? 0.5 : 0 };
  }

  /** A request to an object. */
  fetch(host: ObjectHost, request: Request): Promise<Response> {
    return this.#ask<Response>(host, {
      wayMs: () => 0,
      send: (at, reply) =>
        at.call(
          (instance) => instance["fetch"]!(request) as Promise<Response>,
          (response) => {
            if (response instanceof Response && !webSocketOf(response)) at.notePolled();
            reply(response);
          },
        ),
    });
  }

  /** Sends something from the zone that runs now. The answer arrives there, and the caller stays awake for it if it is an object. */
  #ask<Result>(
    host: ObjectHost,
    { wayMs, send }: { readonly wayMs: () => number; readonly send: Send<Result> },
  ): Promise<Result> {
    const { zone } = this.world;
    const caller = this.#callerIn(zone);
    const done = caller?.waits() ?? (() => {});
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const go = (): void =>
      send(host, (result) => {
        this.world.after(wayMs(), zone, () => {
          done();
          if (result instanceof Error) reject(result);
          else resolve(result);
        });
      });
    if (caller) caller.say(go);
    else go();
    return promise;
  }

  #callerIn(zone: Zone): ObjectHost | undefined {
    return [...this.hosts.values()].find((host) => host.zone === zone);
  }

  #enqueue(queue: Queue, bodies: readonly unknown[]): Promise<void> {
    const { zone } = this.world;
    const caller = this.#callerIn(zone);
    const done = caller?.waits() ?? (() => {});
    const carried = structuredClone(bodies);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const go = (): void => {
      const isHeard = carried.map((body) => queue.take(body)).every(Boolean);
      this.world.after(zone.chance.between(30, 60), zone, () => {
        done();
        if (isHeard) resolve();
        else reject(new Error(PLANNED.queue));
      });
    };
    if (caller) caller.say(go);
    else go();
    return promise;
  }
}
