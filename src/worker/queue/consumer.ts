// Finds the consumer of a queue. It knows a queue by the name that createParley was given for it, or else by the end of its name, because
// names differ between environments. Called by src/worker/parley.ts and metrics-route.ts.
import type { Bindings } from "../../rpc/bindings.ts";
import type { ConsumedQueue, InWorker } from "../feature.ts";
import type { Mount } from "../mount.ts";

/** A message that no feature takes is tried again after this: one of another release may take it, or the platform gives it up. In seconds. */
const UNTAKEN_RETRY_SECONDS = 60;

/** The queues of all features, by their use. */
export function queuesOf(features: readonly InWorker[]): Readonly<Record<string, ConsumedQueue>> {
  const all = features.flatMap(({ queues = {} }) => Object.entries(queues));
  const byUse = Object.entries(Object.groupBy(all, ([use]) => use));
  return Object.fromEntries(byUse.map(([use, of]) => [use, together(of!.map(([, queue]) => queue))]));
}

/** One queue that several features may consume: each gets its messages. */
function together(queues: readonly ConsumedQueue[]): ConsumedQueue {
  const first = queues[0]!;
  if (queues.length === 1 && !first.takes) return first;
  return {
    ...first,
    consume: async (batch, consuming) => {
      const taking = (message: Message): ConsumedQueue | undefined =>
        queues.find(({ takes }) => takes?.(message.body)) ?? queues.find(({ takes }) => !takes);
      const problems: unknown[] = [];
      const ofQueue = Map.groupBy(batch.messages, taking);
      for (const [queue, messages] of ofQueue) {
        const own = ofQueue.size === 1 ? batch : partOf(batch, messages);
        if (!queue) own.retryAll({ delaySeconds: UNTAKEN_RETRY_SECONDS });
        // The failure of one feature holds up no other.
        else await queue.consume(own, consuming).catch((error: unknown) => problems.push(error));
      }
      if (problems.length > 0) throw problems[0];
    },
  };
}

function partOf({ queue, metadata }: MessageBatch, messages: readonly Message[]): MessageBatch {
  return {
    queue,
    metadata,
    messages,
    ackAll: () => messages.forEach((message) => message.ack()),
    retryAll: (options) => messages.forEach((message) => message.retry(options)),
  };
}

/** @returns `undefined` for a queue that is not the chat's */
export function consumerOf(
  queue: string,
  { queues }: Mount,
  consumed: ReturnType<typeof queuesOf>,
  bindings: Bindings,
): ConsumedQueue["consume"] | undefined {
  const isOwn = (use: string, { suffix, signs }: ConsumedQueue): boolean =>
    queues
      ? [queues[use as keyof typeof queues]].flat().includes(queue)
      : queue.endsWith(suffix) && signs.some((name) => bindings[name] !== undefined);
  return Object.entries(consumed).find(([use, one]) => isOwn(use, one))?.[1].consume;
}
