// Consumes the Worker's queues. It knows a queue by the end of its name, because names differ between environments. Called by src/index.ts.
import type { Bindings } from "../../rpc/bindings.ts";
import { deploymentOf } from "../deployment.ts";
import { deliverRelay, storeDeadRelay } from "./relay.ts";
import { deliverWebhooks, replayDeadWebhooks } from "./webhooks.ts";

/** Acks or retries each message of the batch; a message that gets neither counts as acked. */
type Consumer = (batch: MessageBatch, env: Bindings) => Promise<void>;

const CONSUMERS: ReadonlyArray<readonly [suffix: string, consume: Consumer]> = [
  ["-webhooks", deliverWebhooks],
  ["-webhooks-dead", replayDeadWebhooks],
  ["-relay", deliverRelay as Consumer],
  ["-relay-dead", storeDeadRelay as Consumer],
];

/** @throws Error for an unknown queue, so that its messages stay there */
export async function consume(batch: MessageBatch, env: Bindings): Promise<void> {
  const [, consumer] = CONSUMERS.find(([suffix]) => batch.queue.endsWith(suffix)) ?? [];
  if (!consumer) throw new Error(`no consumer for the queue ${batch.queue}`);
  await consumer(batch, env);
  await deploymentOf(env)?.meter.sendSometimes();
}
