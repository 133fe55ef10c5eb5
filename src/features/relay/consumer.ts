// Consumes the batches of links in the relay's queues. All that one queue batch holds for a room goes there in one call. Batches that a
// room cannot take yet are retried; those that it never will take, or that were tried too often, become dead letters (RLY-9). Named by
// index.ts, called by src/worker/queue/consumer.ts.
import { waitAfter } from "../../clock/rates.ts";
import type { RelayBatch, RelayOutcome } from "../../protocol/relay-batch.ts";
import { callRooms } from "../../relay/call-rooms.ts";
import { describeBatch, isReadable, UNREADABLE } from "../../relay/readable-batch.ts";
import { RELAY_RETRY } from "../../relay/tries.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import { storeDeadLetters } from "../../rpc/dead-letters.ts";
import { transportOf } from "../../rpc/transport.ts";
import { turnPorts } from "../../rpc/turn-ports.ts";
import { writeLog } from "../../settings/log.ts";
import type { Consuming, Deployment } from "../../worker/deployment.ts";
import { OFF_RETRY_SECONDS, type Redelivery } from "../../worker/queue/relay-queues.ts";

type Relayed = Message<RelayBatch>;
type RelayMessages = MessageBatch<RelayBatch>;

interface Failed {
  readonly message: Relayed;
  readonly outcome: Extract<RelayOutcome, { ok: false }>;
}

/** After so many early tries of a batch, some fifteen seconds, the batches that it waits for count as lost. */
const LOST_ATTEMPTS_MIN = 5;

/** The first retries are not logged: a batch that overtook another one is taken at the next try. */
const LOGGED_ATTEMPTS_MIN = 3;

export async function deliverRelay(batch: RelayMessages, { bindings, deployment }: Consuming): Promise<void> {
  const isOff = deployment?.settings.relay === "off" || !transportOf(bindings, "queue");
  if (!deployment || isOff) return batch.retryAll({ delaySeconds: OFF_RETRY_SECONDS });
  await deliverRelayed(batch.messages, bindings, deployment);
}

/**
 * Stores messages of the queue of dead letters, which would forget them after some days.
 * @throws where one cannot be stored: the queue delivers it again for some 16 hours (`retry_delay` and `max_retries` of wrangler.toml)
 */
export async function storeDeadRelay({ messages }: RelayMessages, consuming: Consuming): Promise<void> {
  const outcome = { ok: false, isFinal: true, reason: "tried too often" } as const;
  // One call for each message: a single one may be too large for any call.
  const results = await Promise.allSettled(messages.map((message) => storeDead([{ message, outcome }], consuming)));
  const failure = results.find((result) => result.status === "rejected");
  if (failure) throw failure.reason;
}

async function deliverRelayed(messages: readonly Relayed[], env: Bindings, deployment: Deployment): Promise<void> {
  const batches = messages.map(({ body }) => body);
  const outcomes = await deliverBatches(batches, env);
  const failed: Failed[] = [];
  for (const [i, message] of messages.entries()) {
    const outcome = outcomes[i]!;
    if (!outcome.ok) {
      failed.push({ message, outcome });
      continue;
    }
    message.ack();
    deployment.meter.count("queue:relay,done");
    deployment.meter.observe("relay_lag", Math.max(0, Date.now() - message.timestamp.getTime()) / 1000);
  }
  const { dead = [], later = [] } = Object.groupBy(failed, ({ outcome }) => (outcome.isFinal ? "dead" : "later"));
  retry(later, deployment);
  await rewind(failed, env);
  try {
    await storeDead(dead, { bindings: env, deployment });
  } catch {
    // Retried, and refused again, until it can be stored.
    retry(dead, deployment);
  }
}

/** @returns the outcomes, in the order of the batches */
async function deliverBatches(
  batches: readonly RelayBatch[],
  { CHAT_ROOM }: Pick<Bindings, "CHAT_ROOM">,
): Promise<RelayOutcome[]> {
  const readable = batches.filter(isReadable);
  const taken = await callRooms<RelayBatch, RelayOutcome>(
    readable,
    ({ to }) => to,
    (room, ofRoom) => CHAT_ROOM.getByName(room).takeRelayed(ofRoom),
    turnPorts,
  );
  const outcomes = new Map(readable.map((batch, i) => [batch, taken[i]!]));
  return batches.map((batch) => outcomes.get(batch) ?? { ok: false, isFinal: false, reason: UNREADABLE });
}

function retry(failed: readonly Failed[], { settings, meter }: Deployment): void {
  for (const { message, outcome } of failed) {
    const { attempts, body } = message;
    if (attempts >= LOGGED_ATTEMPTS_MIN)
      writeLog(settings, "warn", "relay.retry", { reason: outcome.reason, ...describeBatch(body), attempts });
    meter.count("queue:relay,retried");
    message.retry({ delaySeconds: waitAfter(RELAY_RETRY, attempts) });
  }
}

/** Has the sending room send the batches again that a batch has waited for so long: the queue has lost them or given them up. */
async function rewind(failed: readonly Failed[], { CHAT_ROOM }: Bindings): Promise<void> {
  await Promise.allSettled(
    failed.map(async ({ message: { attempts, body }, outcome: { reached } }) => {
      if (!reached || attempts < LOST_ATTEMPTS_MIN) return;
      const { from, to, epoch, sinceSeq, linkedAtMs } = body;
      await CHAT_ROOM.getByName(from).rewind(to, { epoch, sinceSeq, linkedAtMs }, reached);
    }),
  );
}

/** @throws where they cannot be stored */
async function storeDead(failed: readonly Failed[], { bindings, deployment }: Consuming): Promise<void> {
  const dead = failed.map(({ message: { body, attempts }, outcome: { reason } }) => ({
    batch: body,
    reason,
    attempts,
  }));
  await storeDeadLetters(bindings, dead, deployment?.settings);
  for (const { message } of failed) {
    deployment?.meter.count("queue:relay,dead");
    message.ack();
  }
}

/** Dead letters of links, and those that this release cannot read. */
export const REDELIVERY: Redelivery = {
  redeliver: (batches, env) => deliverBatches(batches as readonly RelayBatch[], env),
};
