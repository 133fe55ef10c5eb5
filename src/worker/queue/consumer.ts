// Finds the consumer of a queue. It knows a queue by the name that createParley was given for it, or else by the end of its name, because
// names differ between environments. Called by parley.ts.
import type { Bindings } from "../../rpc/bindings.ts";
import type { Consuming } from "../deployment.ts";
import type { Mount, QUEUES } from "../mount.ts";
import { deliverRelay, storeDeadRelay } from "./relay.ts";
import { deliverWebhooks, replayDeadWebhooks } from "./webhooks.ts";

/** Acks or retries each message of the batch; a message that gets neither counts as acked. */
type Consumer = (batch: MessageBatch, consuming: Consuming) => Promise<void>;

interface Consumed {
  readonly suffix: string;
  /** The binding through which the chat fills the queue. Without it, a queue with that suffix is somebody else's. */
  readonly binding: keyof Bindings;
  readonly consume: Consumer;
}

const CONSUMED: Readonly<Record<(typeof QUEUES)[number], Consumed>> = {
  webhooks: { suffix: "-webhooks", binding: "WEBHOOKS", consume: deliverWebhooks },
  webhooksDead: { suffix: "-webhooks-dead", binding: "WEBHOOKS", consume: replayDeadWebhooks },
  relay: { suffix: "-relay", binding: "RELAY_QUEUE", consume: deliverRelay as Consumer },
  relayDead: { suffix: "-relay-dead", binding: "RELAY_QUEUE", consume: storeDeadRelay as Consumer },
};

/** @returns `undefined` for a queue that is not the chat's */
export function consumerOf(queue: string, { queues }: Mount, bindings: Bindings): Consumer | undefined {
  const isOwn = (use: string, { suffix, binding }: Consumed): boolean =>
    queues
      ? [queues[use as keyof typeof queues]].flat().includes(queue)
      : queue.endsWith(suffix) && bindings[binding] !== undefined;
  return Object.entries(CONSUMED).find(([use, consumed]) => isOwn(use, consumed))?.[1].consume;
}
