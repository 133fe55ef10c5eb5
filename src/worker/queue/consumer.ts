// What the Worker takes from its queues. A queue is known by the end of its name, because names differ between
// environments; another queue is another line.
import type { Bindings } from "../../rpc/bindings.ts";
import { deploymentOf } from "../deployment.ts";
import { replayDeadWebhooks } from "./dead-webhooks.ts";
import { buryCrossing, deliverCrossing } from "./crossing.ts";
import { deliverWebhooks } from "./webhooks.ts";

/** Acks or retries each message of the batch; what is neither counts as acked. */
type Consumer = (batch: MessageBatch, env: Bindings) => Promise<void>;

const CONSUMERS: ReadonlyArray<readonly [suffix: string, consume: Consumer]> = [
  ["-webhooks", deliverWebhooks],
  ["-webhooks-dead", replayDeadWebhooks],
  ["-relay", deliverCrossing as Consumer],
  ["-relay-dead", buryCrossing as Consumer],
];

/** @throws Error for a queue that nobody here knows, so that its messages stay where they are */
export async function consume(batch: MessageBatch, env: Bindings): Promise<void> {
  const [, consumer] = CONSUMERS.find(([suffix]) => batch.queue.endsWith(suffix)) ?? [];
  if (!consumer) throw new Error(`no consumer for the queue ${batch.queue}`);
  await consumer(batch, env);
  await deploymentOf(env)?.meter.tellSometimes();
}
