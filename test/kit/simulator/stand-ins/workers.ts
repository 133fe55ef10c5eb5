// Takes the place of `cloudflare:workers` for the objects and the Worker.
import { runningDeployment } from "../bindings.ts";

export { RpcTarget } from "../rpc-session.ts";

export class DurableObject {
  readonly ctx: unknown;
  readonly env: unknown;

  constructor(ctx: unknown, env: unknown) {
    this.ctx = ctx;
    this.env = env;
  }
}

export class WorkerEntrypoint extends DurableObject {}

const live = (read: () => object): object => new Proxy({}, { get: (_, name) => Reflect.get(read(), name) as unknown });

/** The bindings of the run. */
export const env = live(() => runningDeployment().env);

export const exports = live(() => runningDeployment().exports);

export const waitUntil = (work: Promise<unknown>): void => runningDeployment().waitUntil(work);
