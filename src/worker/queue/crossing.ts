// Consumes the relay's queue, which carries batches of links and pieces of announcements: announcements of a batch go to their rooms
// together (ANN-5), and those that the platform gave up become dead letters (ANN-6). Other messages are handled as relayed batches.
// Called by consumer.ts.
import type { AnnounceItem, AnnouncePart } from "../../protocol/announcement.ts";
import type { RelayBatch } from "../../protocol/relay-batch.ts";
import { waitAfter } from "../../clock/backoff.ts";
import { announceEach, givenUp, type AnnouncePorts } from "../../relay/announcing.ts";
import { isReadableItem } from "../../relay/readable-batch.ts";
import { RELAY_RETRY } from "../../relay/tries.ts";
import { announcePorts } from "../../rpc/announcements.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import { transportOf } from "../../rpc/transport.ts";
import { deploymentOf, type Deployment } from "../deployment.ts";
import { buryRelayed, deliverRelayed } from "./relayed.ts";

type Crossing = MessageBatch<RelayBatch | AnnounceItem>;
type Announced = Message<AnnounceItem>;

/** Messages wait this long while RELAY is `off`, a setting is wrong, or the platform gave up, in seconds. */
const OFF_RETRY_SECONDS = 600;

export async function deliverCrossing(batch: Crossing, env: Bindings): Promise<void> {
  const deployment = deploymentOf(env);
  if (!deployment || deployment.settings.relay === "off") return batch.retryAll({ delaySeconds: OFF_RETRY_SECONDS });
  const { announced, relayed } = sorted(batch);
  if (relayed.length > 0) await deliverRelayed(relayed, env, deployment);
  if (announced.length > 0) await announce(announced, portsOf(env, deployment), deployment);
}

function portsOf(env: Bindings, { settings }: Deployment): AnnouncePorts {
  const { sendItems } = transportOf(env, "queue")!;
  return announcePorts(env, settings, sendItems);
}

async function announce(
  messages: readonly Announced[],
  ports: AnnouncePorts,
  { meter }: Pick<Deployment, "meter">,
): Promise<void> {
  const failed = await announceEach(
    messages.map(({ body }) => body),
    ports,
  );
  for (const message of messages) {
    const isFailed = failed.has(message.body);
    meter.count(isFailed ? "queue:relay,retried" : "queue:relay,done");
    if (isFailed) message.retry({ delaySeconds: waitAfter(RELAY_RETRY, message.attempts) });
    else message.ack();
  }
}

/** @throws if they cannot be stored: the queue delivers them again then */
export async function buryCrossing(batch: Crossing, env: Bindings): Promise<void> {
  const { announced, relayed } = sorted(batch);
  if (relayed.length > 0) await buryRelayed(relayed, env);
  if (announced.length === 0) return;
  const deployment = deploymentOf(env);
  if (!deployment) throw new Error("a setting is wrong");
  const ports = portsOf(env, deployment);
  for (const message of announced) {
    await ("to" in message.body ? buryPart(message.body, ports) : ports.send([message.body], OFF_RETRY_SECONDS));
    deployment.meter.count("queue:relay,dead");
    message.ack();
  }
}

async function buryPart(part: AnnouncePart, { bury, note }: AnnouncePorts): Promise<void> {
  const { dead, note: failed } = givenUp(part);
  await bury(dead);
  await note([failed], []);
}

function sorted({ messages }: Crossing): {
  readonly announced: Announced[];
  readonly relayed: Array<Message<RelayBatch>>;
} {
  const isAnnounced = (message: Message): message is Announced => isReadableItem(message.body);
  return {
    announced: messages.filter(isAnnounced),
    relayed: messages.filter((message) => !isAnnounced(message)) as Array<Message<RelayBatch>>,
  };
}
