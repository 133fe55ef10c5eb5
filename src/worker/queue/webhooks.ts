// Consumes the webhooks' queue: makes one POST for each batch of the queue, retries what fails, and buries what keeps failing (HOOK-8 to
// HOOK-10). Called by consumer.ts.
import { waitAfter, type Backoff } from "../../clock/backoff.ts";
import { writeLog } from "../../settings/log.ts";
import type { Webhook } from "../../settings/settings.ts";
import type { WebhookBatch, WebhookEvent } from "../../protocol/webhook-events.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import { deploymentOf } from "../deployment.ts";
import { post, type Outcome } from "./post.ts";
import { describeWebhooks, sortOut, STRANGE } from "./readable-webhooks.ts";

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

export async function deliverWebhooks(batch: MessageBatch, env: Bindings): Promise<void> {
  const deployment = deploymentOf(env);
  if (!deployment) return batch.retryAll({ delaySeconds: MISCONFIGURED_RETRY_SECONDS });
  const { webhook } = deployment.settings;
  if (!webhook) {
    log("webhook.dropped", batch.messages, "WEBHOOK_URL is not set any more");
    countResult(env, "dropped", batch.messages);
    return batch.ackAll();
  }
  const [items, strange] = sortOut(batch.messages);
  // Retried like all else: only the platform can move an unknown message to the dead letters unharmed.
  if (strange.length > 0) retry(strange, { reason: STRANGE }, env);
  if (items.length > 0) await deliver(items, webhook, env);
}

async function deliver(items: readonly Item[], webhook: Webhook, env: Bindings): Promise<void> {
  const outcome = await post(webhook, { events: inOrder(items) });
  if (outcome.ok) {
    countResult(env, "done", items);
    return items.forEach((item) => item.ack());
  }
  if (!outcome.isFinal) return retry(items, outcome, env);
  if (items.length === 1) return bury(items[0]!, outcome, env);
  // One of them is to blame: each gets a POST of its own.
  for (const item of items) await deliver([item], webhook, env);
}

/** Sorts the events of a POST; the queue keeps no order. */
function inOrder(items: readonly Item[]): WebhookEvent[] {
  const startOf = ({ body }: Item): number => body.events[0]?.order ?? 0;
  return [...items].sort((a, b) => startOf(a) - startOf(b)).flatMap(({ body }) => body.events);
}

function retry(
  items: readonly Message[],
  { reason, retryAfterSeconds }: Pick<Failure, "reason" | "retryAfterSeconds">,
  env: Bindings,
): void {
  const dying = items.filter(({ attempts }) => attempts >= TRIES_MAX);
  const living = items.filter(({ attempts }) => attempts < TRIES_MAX);
  if (dying.length > 0) log("webhook.dead", dying, reason);
  if (living.length > 0) log("webhook.retry", living, reason);
  countResult(env, "dead", dying);
  countResult(env, "retried", living);
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
async function bury(item: Item, { reason }: Failure, env: Bindings): Promise<void> {
  log("webhook.dead", [item], reason);
  countResult(env, "dead", [item]);
  await env.WEBHOOKS_DEAD!.send(item.body);
  item.ack();
}

function countResult(env: Bindings, result: "done" | "retried" | "dead" | "dropped", items: readonly Message[]): void {
  if (items.length > 0) deploymentOf(env)?.meter.count(`queue:webhooks,${result}`, items.length);
}

/** Logs how much, from which rooms and why; never contents, nor the address. */
function log(event: string, items: readonly Message[], reason: string): void {
  const described = items.map(({ body }) => describeWebhooks(body));
  writeLog("warn", event, {
    reason,
    messages: items.length,
    events: described.reduce((sum, { events }) => sum + events, 0),
    rooms: [...new Set(described.flatMap(({ rooms }) => rooms))],
    attempts: Math.max(...items.map(({ attempts }) => attempts)),
  });
}
