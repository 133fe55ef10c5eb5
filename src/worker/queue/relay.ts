// Consumes the relay's queues, which carry batches of links and pieces of announcements. All that one queue batch holds
// for a room goes there in one call. Batches that a room cannot take yet are retried; those that it never will take, or
// that were tried too often, become dead letters (RLY-9, ANN-5, ANN-6). Called by consumer.ts.
import { waitAfter } from "../../clock/rates.ts";
import type { AnnounceItem } from "../../protocol/announcement.ts";
import type { DeadBatch, RelayBatch, RelayOutcome } from "../../protocol/relay-batch.ts";
import { announceEach, deliverParts, givenUp, type AnnouncePorts } from "../../relay/announcing.ts";
import { callRooms } from "../../relay/call-rooms.ts";
import { describeBatch, isReadable, isReadableItem, isReadablePart, UNREADABLE } from "../../relay/readable-batch.ts";
import { RELAY_RETRY } from "../../relay/tries.ts";
import { announcementsOf, announcePorts } from "../../rpc/announcements.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import { storeDeadLetters } from "../../rpc/dead-letters.ts";
import { transportOf } from "../../rpc/transport.ts";
import { turnPorts } from "../../rpc/turn-ports.ts";
import { writeLog } from "../../settings/log.ts";
import type { Consuming, Deployment } from "../deployment.ts";

type Relayed = Message<RelayBatch>;
type Announced = Message<AnnounceItem>;
type RelayMessages = MessageBatch<RelayBatch | AnnounceItem>;

interface Failed {
  readonly message: Relayed;
  readonly outcome: Extract<RelayOutcome, { ok: false }>;
}

/** Messages wait this long while RELAY is `off`, a setting is wrong, or the platform gave up, in seconds. */
const OFF_RETRY_SECONDS = 600;

/** After so many early tries of a batch, some fifteen seconds, the batches that it waits for count as lost. */
const LOST_ATTEMPTS_MIN = 5;

/** The first retries are not logged: a batch that overtook another one is taken at the next try. */
const LOGGED_ATTEMPTS_MIN = 3;

export async function deliverRelay(batch: RelayMessages, { bindings, deployment }: Consuming): Promise<void> {
  const ports = deployment?.settings.relay === "off" ? undefined : portsOf(bindings, deployment);
  if (!deployment || !ports) return batch.retryAll({ delaySeconds: OFF_RETRY_SECONDS });
  const { announced, relayed } = split(batch);
  if (relayed.length > 0) await deliverRelayed(relayed, bindings, deployment);
  if (announced.length > 0) await announce(announced, ports, deployment);
}

/**
 * Stores messages of the queue of dead letters, which would forget them after some days.
 * @throws where one cannot be stored: the queue delivers it again for some 16 hours (`retry_delay` and `max_retries` of wrangler.toml)
 */
export async function storeDeadRelay(batch: RelayMessages, consuming: Consuming): Promise<void> {
  const { announced, relayed } = split(batch);
  const outcome = { ok: false, isFinal: true, reason: "tried too often" } as const;
  // One call for each message: a single one may be too large for any call.
  const results = await Promise.allSettled([
    ...relayed.map((message) => storeDead([{ message, outcome }], consuming)),
    ...announced.map((message) => giveUp(message, consuming)),
  ]);
  const failure = results.find((result) => result.status === "rejected");
  if (failure) throw failure.reason;
}

/** Other messages than announcements are handled as relayed batches. */
function split({ messages }: RelayMessages): { readonly announced: Announced[]; readonly relayed: Relayed[] } {
  const isAnnounced = (message: Message): message is Announced => isReadableItem(message.body);
  return {
    announced: messages.filter(isAnnounced),
    relayed: messages.filter((message) => !isAnnounced(message)) as Relayed[],
  };
}

// ---- announcements -----------------------------------------------------------------------------------------

/** @returns `undefined` where a setting is wrong, or the queue is no binding of the Worker any more */
function portsOf(bindings: Bindings, deployment: Deployment | undefined): AnnouncePorts | undefined {
  const transport = transportOf(bindings, "queue");
  return deployment && transport && announcePorts(bindings, deployment.settings, transport.sendItems);
}

async function announce(
  messages: readonly Announced[],
  ports: AnnouncePorts,
  { meter }: Pick<Deployment, "meter">,
): Promise<void> {
  const items = messages.map(({ body }) => body);
  const failed = await announceEach(items, ports);
  for (const message of messages) {
    const isFailed = failed.has(message.body);
    meter.count(isFailed ? "queue:relay,retried" : "queue:relay,done");
    if (isFailed) message.retry({ delaySeconds: waitAfter(RELAY_RETRY, message.attempts) });
    else message.ack();
  }
}

/** Stores a part that the platform gave up; lists that are still to be walked, and users to be looked for, are queued again. */
async function giveUp(message: Announced, { bindings, deployment }: Consuming): Promise<void> {
  const ports = portsOf(bindings, deployment);
  if (!deployment || !ports) throw new Error("a setting is wrong, or the binding RELAY_QUEUE is missing");
  if ("to" in message.body) {
    const { dead, note } = givenUp(message.body);
    await ports.storeDeadLetters(dead);
    await ports.note([note], []);
  } else await ports.send([message.body], OFF_RETRY_SECONDS);
  deployment.meter.count("queue:relay,dead");
  message.ack();
}

// ---- batches of links --------------------------------------------------------------------------------------

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

function retry(failed: readonly Failed[], { meter }: Deployment): void {
  for (const { message, outcome } of failed) {
    const { attempts, body } = message;
    if (attempts >= LOGGED_ATTEMPTS_MIN)
      writeLog("warn", "relay.retry", { reason: outcome.reason, ...describeBatch(body), attempts });
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
  await storeDeadLetters(bindings, dead);
  for (const { message } of failed) {
    deployment?.meter.count("queue:relay,dead");
    message.ack();
  }
}

// ---- dead letters ------------------------------------------------------------------------------------------

/**
 * Delivers dead letters again (RLY-9, ANN-6). Called by api/calls/relay.ts.
 * @returns the outcomes, in the order of the batches
 */
export async function redeliver(
  batches: ReadonlyArray<DeadBatch["batch"]>,
  env: Bindings,
): Promise<readonly RelayOutcome[]> {
  const parts = batches.filter(isReadablePart);
  const relayed = batches.filter((batch): batch is RelayBatch => !isReadablePart(batch));
  const announce: Parameters<typeof deliverParts>[1]["announce"] = (room, announcements) =>
    env.CHAT_ROOM.getByName(room).takeAnnounced(announcements);
  const [delivered, taken] = await Promise.all([
    deliverParts(parts, { announce, ...turnPorts }),
    deliverBatches(relayed, env),
  ]);
  const notes = delivered.filter(({ failure }) => !failure).map(({ note }) => note);
  if (notes.length > 0) await announcementsOf(env)?.note(notes, []);
  const outcomes = new Map<unknown, RelayOutcome>([
    ...parts.map((part, i) => [part, delivered[i]!.failure ?? { ok: true }] as const),
    ...relayed.map((batch, i) => [batch, taken[i]!] as const),
  ]);
  return batches.map((batch) => outcomes.get(batch)!);
}
