// Queues dead letters of webhooks again (HOOK-10). Their queue has no consumer, so that operators can look at them; an operator makes this
// Worker its consumer for a while.
import { writeLog } from "../../settings/log.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import { sortOut, STRANGE } from "./readable-webhooks.ts";

/** In seconds. A letter that is refused again comes back at once and must not circle faster than this. */
const REPLAY_DELAY_SECONDS = 30;

/** @throws if one cannot be queued: it and those behind it stay where they are */
export async function replayDeadWebhooks(batch: MessageBatch, env: Bindings): Promise<void> {
  const [letters, strange] = sortOut(batch.messages);
  // The receiver would never get it, and it would only come back.
  for (const message of strange) message.ack();
  if (strange.length > 0) writeLog("warn", "webhook.dropped", { reason: STRANGE, messages: strange.length });
  for (const message of letters) {
    await env.WEBHOOKS!.send(message.body, { delaySeconds: REPLAY_DELAY_SECONDS });
    message.ack();
  }
  if (letters.length > 0) writeLog("warn", "webhook.replayed", { messages: letters.length });
}
