// The queue of the relay carries announcements, too: those of a batch go to their rooms together (ANN-5), and what the platform
// gave up ends with the dead letters (ANN-6). What nobody can read takes the way of what rooms pass on, and waits there.
import { waitAfter } from "../../clock/backoff.ts";
import { logProblem } from "../../settings/log.ts";
import type { AnnounceItem } from "../../protocol/announcement.ts";
import type { RelayBatch } from "../../protocol/relay-batch.ts";
import { announceEach, type AnnouncePorts } from "../../relay/announcing.ts";
import { isReadableItem } from "../../relay/readable-batch.ts";
import { announcePorts } from "../announcing.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import { deploymentOf, type Deployment } from "../deployment.ts";
import { buryRelayed } from "./dead-relayed.ts";
import { deliverRelayed, RELAY_RETRY } from "./relayed.ts";

type Crossing = MessageBatch<RelayBatch | AnnounceItem>;
type Announced = Message<AnnounceItem>;

/** While nothing is to cross, or a setting is wrong, messages wait so long, in seconds. */
const OFF_RETRY_SECONDS = 600;

export async function deliverCrossing(batch: Crossing, env: Bindings): Promise<void> {
  const deployment = deploymentOf(env);
  if (!deployment || deployment.settings.relay === "off") return batch.retryAll({ delaySeconds: OFF_RETRY_SECONDS });
  const { announced, relayed } = sorted(batch);
  if (relayed.length > 0) await deliverRelayed(relayed, env, deployment);
  if (announced.length > 0) await announce(announced, env, deployment);
}

async function announce(messages: readonly Announced[], env: Bindings, deployment: Deployment): Promise<void> {
  const report = (error: unknown): void =>
    logProblem("announce.problem", "an announcement could not be brought on its way", error);
  const ports = { ...announcePorts(env, deployment.settings), report };
  const failed = new Set(await announceEach(messages, ({ body }) => body, ports));
  for (const message of messages) {
    deployment.meter.count(failed.has(message) ? "queue:relay,retried" : "queue:relay,done");
    if (failed.has(message)) message.retry({ delaySeconds: waitAfter(RELAY_RETRY, message.attempts) });
    else message.ack();
  }
}

/** @throws where they cannot be stored: they come again then, as those of the relay do */
export async function buryCrossing(batch: Crossing, env: Bindings): Promise<void> {
  const { announced, relayed } = sorted(batch);
  if (relayed.length > 0) await buryRelayed(relayed, env);
  if (announced.length === 0) return;
  const deployment = deploymentOf(env);
  if (!deployment) throw new Error("a setting is wrong");
  const ports = announcePorts(env, deployment.settings);
  for (const message of announced) {
    await bury(message.body, ports);
    deployment.meter.count("queue:relay,dead");
    message.ack();
  }
}

async function bury(item: AnnounceItem, { bury, note, send }: AnnouncePorts): Promise<void> {
  // Whom it is for is not known yet.
  if (!("to" in item)) return send([item], OFF_RETRY_SECONDS);
  const { announce, part, to, whoever = [] } = item;
  await bury(to.map((one) => ({ batch: { ...item, tries: 0, to: [one] }, reason: "tried too often" })));
  const failed = to.flatMap(({ number, users = whoever }) =>
    number === undefined ? users.map(([user]) => user) : [number],
  );
  await note([{ id: announce.id, part, reached: [], failed, isOver: true }], []);
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
