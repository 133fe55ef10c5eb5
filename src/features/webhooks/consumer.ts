// Consumes the webhooks' queue: makes one POST for each batch of the queue and retries those that fail; one that keeps failing becomes a
// dead letter (HOOK-8 to HOOK-10). Consumes the queue of dead letters, too, to queue them again. Called by the Worker.
import * as z from "zod/mini";

import { waitAfter, type Backoff } from "../../clock/rates.ts";
import { writeLog } from "../../settings/log.ts";
import type { WebhookBatch, WebhookEvent } from "../../protocol/webhook-events.ts";
import { readAs } from "../../protocol/input.ts";
import type { SignedServer } from "../../http/signed-post.ts";
import type { Consuming, Deployment } from "../../worker/deployment.ts";
import { post, type Outcome } from "./consumer-post.ts";

type Failure = Extract<Outcome, { ok: false }>;
type Item = Message<WebhookBatch>;

/** The first try, and `max_retries` of wrangler.toml. Then the platform moves a message to the dead letters. */
export const TRIES_MAX = 21;

/** In seconds. Together the tries take some nine hours. */
const RETRY: Backoff = { first: 5, max: 3600 };
/** The longest delay of the platform, in seconds. */
const DELAY_SECONDS_MAX = 43_200;

/** Messages wait this long while a setting is wrong, in seconds. */
const MISCONFIGURED_RETRY_SECONDS = 60;

/** In seconds. A dead letter that is refused again comes back at once, so this bounds how often it does. */
const REPLAY_DELAY_SECONDS = 30;

export async function deliverWebhooks(batch: MessageBatch, { deployment }: Consuming): Promise<void> {
  if (!deployment) return batch.retryAll({ delaySeconds: MISCONFIGURED_RETRY_SECONDS });
  const { webhookUrl: url, webhookSecret: secret } = deployment.settings;
  if (url === undefined || secret === undefined) {
    log("webhook.dropped", batch.messages, "WEBHOOK_URL is not set any more", deployment);
    countResult(deployment, "dropped", batch.messages);
    return batch.ackAll();
  }
  const [items, unreadable] = split(batch.messages);
  // Retried like all else: only the platform can move an unknown message to the dead letters unharmed.
  if (unreadable.length > 0) retry(unreadable, { reason: UNREADABLE }, deployment);
  if (items.length > 0) await deliver(items, { url, secret }, deployment);
}

async function deliver(items: readonly Item[], webhook: SignedServer, deployment: Deployment): Promise<void> {
  const outcome = await post(webhook, { events: inOrder(items) });
  if (outcome.ok) {
    countResult(deployment, "done", items);
    return items.forEach((item) => item.ack());
  }
  if (!outcome.isFinal) return retry(items, outcome, deployment);
  if (items.length === 1) return moveToDeadLetters(items[0]!, outcome, deployment);
  // The receiver may have refused all because of one: each gets a POST of its own.
  for (const item of items) await deliver([item], webhook, deployment);
}

/** Sorts the events of a POST; the queue keeps no order. */
function inOrder(items: readonly Item[]): WebhookEvent[] {
  const startOf = ({ body }: Item): number => body.events[0]?.order ?? 0;
  return [...items].sort((a, b) => startOf(a) - startOf(b)).flatMap(({ body }) => body.events);
}

function retry(
  items: readonly Message[],
  { reason, retryAfterSeconds }: Pick<Failure, "reason" | "retryAfterSeconds">,
  deployment: Deployment,
): void {
  const dying = items.filter(({ attempts }) => attempts >= TRIES_MAX);
  const living = items.filter(({ attempts }) => attempts < TRIES_MAX);
  if (dying.length > 0) log("webhook.dead", dying, reason, deployment);
  if (living.length > 0) log("webhook.retry", living, reason, deployment);
  countResult(deployment, "dead", dying);
  countResult(deployment, "retried", living);
  for (const item of items) {
    const delaySeconds = Math.min(retryAfterSeconds ?? backoffSeconds(item.attempts), DELAY_SECONDS_MAX);
    item.retry({ delaySeconds });
  }
}

/** Between half of the wait and all of it, so that messages that failed together do not come back together. */
function backoffSeconds(attempts: number): number {
  return Math.ceil(waitAfter(RETRY, attempts) * (0.5 + Math.random() / 2));
}

/** Another try would fail the same way. */
async function moveToDeadLetters(item: Item, { reason }: Failure, deployment: Deployment): Promise<void> {
  log("webhook.dead", [item], reason, deployment);
  countResult(deployment, "dead", [item]);
  await deployment.bindings.WEBHOOKS_DEAD!.send(item.body);
  item.ack();
}

/**
 * Queues dead letters again (HOOK-10). Their queue has no consumer, so that operators can look at them; an operator makes this Worker its
 * consumer for a while.
 * @throws if one cannot be queued: it and those behind it stay where they are
 */
export async function replayDeadWebhooks(batch: MessageBatch, { bindings, deployment }: Consuming): Promise<void> {
  const [letters, unreadable] = split(batch.messages);
  // It would only become a dead letter again.
  for (const message of unreadable) message.ack();
  if (unreadable.length > 0)
    writeLog(deployment?.settings, "warn", "webhook.dropped", { reason: UNREADABLE, messages: unreadable.length });
  for (const message of letters) {
    await bindings.WEBHOOKS!.send(message.body, { delaySeconds: REPLAY_DELAY_SECONDS });
    message.ack();
  }
  if (letters.length > 0) writeLog(deployment?.settings, "warn", "webhook.replayed", { messages: letters.length });
}

function countResult(
  { meter }: Deployment,
  result: "done" | "retried" | "dead" | "dropped",
  items: readonly Message[],
): void {
  if (items.length > 0) meter.count(`queue:webhooks,${result}`, items.length);
}

/** Logs how much, from which rooms and why; never contents, nor the address. */
function log(event: string, items: readonly Message[], reason: string, { settings }: Deployment): void {
  const batches = split(items)[0].map(({ body }) => body);
  writeLog(settings, "warn", event, {
    reason,
    messages: items.length,
    events: batches.reduce((sum, { events }) => sum + events.length, 0),
    rooms: [...new Set(batches.map(({ room }) => room))],
    attempts: Math.max(...items.map(({ attempts }) => attempts)),
  });
}

// ---- unreadable messages -----------------------------------------------------------------------------------

const UNREADABLE = "it is not shaped like what rooms send";

/** Of any type: the receiver may know types of newer rooms that this Worker does not know. */
const event = z.looseObject({
  id: z.string(),
  type: z.string(),
  room: z.string(),
  at: z.number(),
  order: z.number(),
  data: z.looseObject({}),
});
const schema = z.object({ room: z.string(), events: z.array(event).check(z.minLength(1)) });

/** Operators put messages into the queue by hand; one that is not readable must not hold up events. */
const isReadable = (body: unknown): body is WebhookBatch => readAs(schema, body).success && isJson(body);

/** A queue carries all that can be cloned, a POST carries JSON. */
function isJson(body: unknown): boolean {
  try {
    JSON.stringify(body);
    return true;
  } catch {
    return false;
  }
}

/** Separates messages that can be delivered from the others. */
function split(messages: readonly Message[]): [items: Item[], unreadable: Message[]] {
  const isItem = (message: Message): message is Item => isReadable(message.body);
  return [messages.filter(isItem), messages.filter((message) => !isItem(message))];
}
