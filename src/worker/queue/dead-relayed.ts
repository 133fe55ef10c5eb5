// Takes dead letters of the relay out of their queue, where they would be forgotten after some days, to where an operator
// can look at them and send them again: RLY-9.
import type { RelayBatch } from "../../protocol/relay-batch.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import { deploymentOf } from "../deployment.ts";
import { deadLettersOf } from "../relay-delivery.ts";
import { tell } from "./relayed.ts";

const REASON = "tried too often";

/** @throws where they cannot be stored: they come again then, for some 16 hours (`retry_delay` and `max_retries` of wrangler.toml) */
export async function buryRelayed(messages: ReadonlyArray<Message<RelayBatch>>, env: Bindings): Promise<void> {
  const letters = deadLettersOf(env);
  if (!letters) throw new Error("RELAY: needs the binding DEAD_LETTERS, which wrangler.toml does not give");
  try {
    await letters.bury(messages.map(({ body }) => ({ batch: body, reason: REASON })));
  } catch (error) {
    if (messages.length <= 1) throw error;
    // One of them may be what no call can carry.
    const outcomes = await Promise.allSettled(messages.map((message) => buryRelayed([message], env)));
    const failure = outcomes.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
    if (failure) throw failure.reason;
    return;
  }
  for (const message of messages) {
    tell("relay.dead", message, REASON);
    deploymentOf(env)?.meter.count("queue:relay,dead");
    message.ack();
  }
}
