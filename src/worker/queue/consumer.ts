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
  /** Bindings and settings of the deployment that fills the queue. Without any of them a queue with that suffix is the host's. */
  readonly signs: readonly string[];
  readonly consume: Consumer;
}

const WEBHOOK_SIGNS = ["WEBHOOKS", "WEBHOOK_URL"];

const CONSUMED: Readonly<Record<(typeof QUEUES)[number], Consumed>> = {
  webhooks: { suffix: "-webhooks", signs: WEBHOOK_SIGNS, consume: deliverWebhooks },
  webhooksDead: { suffix: "-webhooks-dead", signs: WEBHOOK_SIGNS, consume: replayDeadWebhooks },
  relay: { suffix: "-relay", signs: ["RELAY_QUEUE"], consume: deliverRelay as Consumer },
  relayDead: { suffix: "-relay-dead", signs: ["RELAY_QUEUE"], consume: storeDeadRelay as Consumer },
};

/** @returns `undefined` for a queue that is not the chat's */
export function consumerOf(queue: string, { queues }: Mount, bindings: Bindings): Consumer | undefined {
  const isOwn = (use: string, { suffix, signs }: Consumed): boolean =>
    queues
      ? [queues[use as keyof typeof queues]].flat().includes(queue)
      : queue.endsWith(suffix) && signs.some((name) => bindings[name] !== undefined);
  return Object.entries(CONSUMED).find(([use, consumed]) => isOwn(use, consumed))?.[1].consume;
}
