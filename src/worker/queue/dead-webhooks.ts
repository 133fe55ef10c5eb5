// The dead letters of the webhooks' queue. Nobody takes them from there, so an operator can look at them; with this Worker
// as their consumer for a while, they are put in line again: HOOK-10.
import { writeLog } from "../../access/log.ts";
import type { WebhookBatch } from "../../protocol/webhook-events.ts";
import type { WorkerEnv } from "../deployment.ts";

/** What is refused at once comes back at once; it is not to go round faster than this, in seconds. */
const REPLAY_DELAY_SECONDS = 30;

/** @throws where one cannot be put in line: it stays where it is then, and so do those behind it */
export async function replayDeadWebhooks(batch: MessageBatch<WebhookBatch>, env: WorkerEnv): Promise<void> {
  for (const message of batch.messages) {
    await env.WEBHOOKS!.send(message.body, { delaySeconds: REPLAY_DELAY_SECONDS });
    message.ack();
  }
  writeLog("warn", "webhook.replayed", { messages: batch.messages.length });
}
