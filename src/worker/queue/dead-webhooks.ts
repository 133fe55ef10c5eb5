// The dead letters of the webhooks' queue. Nobody takes them from there, so an operator can look at them; with this Worker
// as their consumer for a while, they are put in line again: HOOK-10.
import { writeLog } from "../../settings/log.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import { sortOut, STRANGE } from "./readable-webhooks.ts";

/** What is refused at once comes back at once; it is not to go round faster than this, in seconds. */
const REPLAY_DELAY_SECONDS = 30;

/** @throws where one cannot be put in line: it stays where it is then, and so do those behind it */
export async function replayDeadWebhooks(batch: MessageBatch, env: Bindings): Promise<void> {
  const [letters, strange] = sortOut(batch.messages);
  // No receiver was ever meant to have it, and it would only come back.
  for (const message of strange) message.ack();
  if (strange.length > 0) writeLog("warn", "webhook.dropped", { reason: STRANGE, messages: strange.length });
  for (const message of letters) {
    await env.WEBHOOKS!.send(message.body, { delaySeconds: REPLAY_DELAY_SECONDS });
    message.ack();
  }
  if (letters.length > 0) writeLog("warn", "webhook.replayed", { messages: letters.length });
}
