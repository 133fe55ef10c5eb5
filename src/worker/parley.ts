// The chat in any Worker, without its objects. It answers the requests and consumes the queues that are its own, and hands back the others.
// Called by createParley (src/entries/parley.ts).
import { bindingsOf } from "../rpc/bindings.ts";
import { callsWith } from "./api/calls.ts";
import { chatWorker } from "./app.ts";
import { deploymentOf } from "./deployment.ts";
import type { InWorker } from "./feature.ts";
import { refuseRequest } from "./http/refusals.ts";
import { mountOf, pathWithin, type ParleyOptions } from "./mount.ts";
import { chatPaths } from "./chat-paths.ts";
import { consumerOf, queuesOf } from "./queue/consumer.ts";

/** Keeps an isolate at work after its answer; the platform's context, or a framework's. */
type Waiting = Pick<ExecutionContext, "waitUntil" | "passThroughOnException">;

/** The functions of a Worker's chat. They may be passed on without it. */
export interface WorkerPart<Env> {
  /** @returns the answer to a request for one of the chat's addresses; `undefined` for any other request, of which nothing was read */
  readonly handle: (request: Request, env: Env, ctx?: Waiting) => Promise<Response | undefined>;
  /** A Worker's `fetch` where there is nothing but the chat: other addresses get 404. */
  readonly fetch: (request: Request, env: Env, ctx?: Waiting) => Promise<Response>;
  /** @returns whether the queue is one of the chat's; otherwise nothing was done with the batch */
  readonly handleQueue: (batch: MessageBatch, env: Env) => Promise<boolean>;
  /** A Worker's `queue` where there are no queues but the chat's. @throws Error for others, so that their messages stay there */
  readonly queue: (batch: MessageBatch, env: Env) => Promise<void>;
}

/** @throws Error for a bad option, which it names */
export function workerPartOf<Env>(options: ParleyOptions<Env>, features: readonly InWorker[]): WorkerPart<Env> {
  const queues = queuesOf(features);
  const of = {
    features: features.map(({ name }) => name),
    needs: features.flatMap(({ needs = [] }) => needs),
    warnings: features.flatMap(({ warnings = [] }) => warnings),
    deadLetters: features.flatMap(({ deadLetters = [] }) => deadLetters),
  };
  const mount = mountOf(options, of, Object.keys(queues));
  const calls = callsWith(features);
  const app = chatWorker(mount, calls, features);
  const isChatPath = chatPaths(calls);

  const fetch: WorkerPart<Env>["fetch"] = async (request, env, ctx) =>
    pathWithin(mount, request) === undefined
      ? refuseRequest("NOT_FOUND", "No such address")
      : app.fetch(request, env as object, ctx as ExecutionContext | undefined);

  const handleQueue: WorkerPart<Env>["handleQueue"] = async (batch, env) => {
    const bindings = bindingsOf(env as object, mount.bindings);
    const consume = consumerOf(batch.queue, mount, queues, bindings);
    if (!consume) return false;
    const deployment = deploymentOf(mount, env as object);
    await consume(batch, { bindings, deployment });
    await deployment?.meter.sendSometimes();
    return true;
  };

  return {
    fetch,
    handle: async (request, env, ctx) =>
      isChatPath(pathWithin(mount, request) ?? "") ? fetch(request, env, ctx) : undefined,
    handleQueue,
    queue: async (batch, env) => {
      if (!(await handleQueue(batch, env))) throw new Error(`no consumer for the queue ${batch.queue}`);
    },
  };
}
