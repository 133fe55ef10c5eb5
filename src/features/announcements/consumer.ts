// Consumes the parts of announcements in the relay's queues. All that one queue batch holds for a room goes there in one call. Items that
// could not be noted or sent on are retried; parts that were tried too often become dead letters (ANN-5, ANN-6). Called by the Worker.
import { waitAfter } from "../../clock/rates.ts";
import type { AnnounceItem } from "../../protocol/announcement.ts";
import { isReadablePart } from "../../relay/readable-batch.ts";
import { RELAY_RETRY } from "../../relay/tries.ts";
import { announcementsOf, type Bindings } from "../../rpc/bindings.ts";
import { transportOf } from "../../rpc/transport.ts";
import type { Consuming, Deployment } from "../../worker/deployment.ts";
import { OFF_RETRY_SECONDS, type Redelivery } from "../../worker/queue/relay-queues.ts";
import { announceEach, deliverParts, givenUp, type AnnouncePorts } from "./announcing.ts";
import { announcePorts, roomPorts } from "./consumer-ports.ts";

type Announced = Message<AnnounceItem>;

export async function deliverAnnounced(
  batch: MessageBatch<AnnounceItem>,
  { bindings, deployment }: Consuming,
): Promise<void> {
  const ports = deployment?.settings.relay === "off" ? undefined : portsOf(bindings, deployment);
  if (!deployment || !ports) return batch.retryAll({ delaySeconds: OFF_RETRY_SECONDS });
  const { meter } = deployment;
  const failed = await announceEach(
    batch.messages.map(({ body }) => body),
    ports,
  );
  for (const message of batch.messages) {
    const isFailed = failed.has(message.body);
    meter.count(isFailed ? "queue:relay,retried" : "queue:relay,done");
    if (isFailed) message.retry({ delaySeconds: waitAfter(RELAY_RETRY, message.attempts) });
    else message.ack();
  }
}

/**
 * Stores parts that the platform gave up; lists that are still to be walked, and users to be looked for, are queued again.
 * @throws where one cannot be stored: the queue delivers it again for some 16 hours (`retry_delay` and `max_retries` of wrangler.toml)
 */
export async function storeDeadAnnounced(
  { messages }: MessageBatch<AnnounceItem>,
  { bindings, deployment }: Consuming,
): Promise<void> {
  const ports = portsOf(bindings, deployment);
  if (!deployment || !ports) throw new Error("a setting is wrong, or the binding RELAY_QUEUE is missing");
  // One call for each message: a single one may be too large for any call.
  const results = await Promise.allSettled(messages.map((message) => giveUp(message, ports, deployment)));
  const failure = results.find((result) => result.status === "rejected");
  if (failure) throw failure.reason;
}

/** @returns `undefined` where a setting is wrong, or the queue is no binding of the Worker any more */
function portsOf(bindings: Bindings, deployment: Deployment | undefined): AnnouncePorts | undefined {
  const transport = transportOf(bindings, "queue");
  return deployment && transport && announcePorts(bindings, deployment.settings, transport.sendItems);
}

async function giveUp(message: Announced, ports: AnnouncePorts, { meter }: Deployment): Promise<void> {
  if ("to" in message.body) {
    const { dead, note } = givenUp(message.body);
    await ports.storeDeadLetters(dead);
    await ports.note([note], []);
  } else await ports.send([message.body], OFF_RETRY_SECONDS);
  meter.count("queue:relay,dead");
  message.ack();
}

/** Dead letters of announcements, each a part for one room. */
export const REDELIVERY: Redelivery = {
  takes: isReadablePart,
  redeliver: async (batches, env) => {
    const delivered = await deliverParts(batches.filter(isReadablePart), roomPorts(env));
    const notes = delivered.filter(({ failure }) => !failure).map(({ note }) => note);
    if (notes.length > 0) await announcementsOf(env)?.note(notes, []);
    return delivered.map(({ failure }) => failure ?? { ok: true });
  },
};
