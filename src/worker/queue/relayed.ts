// The queue of the relay: what came in one batch goes to each room in one call. What a room cannot take yet comes again
// later; what it never will, or what was tried too often, ends with the dead letters (RLY-9).
import { waitAfter, type Backoff } from "../../clock/backoff.ts";
import type { RelayBatch, RelayOutcome } from "../../protocol/relay-batch.ts";
import { writeLog } from "../../settings/log.ts";
import { describeBatch } from "../../relay/readable-batch.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import type { Deployment } from "../deployment.ts";
import { deadLettersOf, deliver } from "../relay-delivery.ts";

type Item = Message<RelayBatch>;
type Failure = Extract<RelayOutcome, { ok: false }>;
interface Failed {
  readonly item: Item;
  readonly outcome: Failure;
}

/** The first try, and `max_retries` of wrangler.toml. Then the platform moves a message to the dead letters. */
export const RELAY_TRIES_MAX = 21;

/** In seconds. Together the tries take some nine hours. */
export const RELAY_RETRY: Backoff = { first: 1, max: 3600 };

/** So often a batch has to be early before what it waits for is taken for lost: some fifteen seconds. */
const LOST_ATTEMPTS_MIN = 5;

/** What overtook another message comes in its turn the next time: that is nothing to tell. */
const TOLD_ATTEMPTS_MIN = 3;

export async function deliverRelayed(items: readonly Item[], env: Bindings, deployment: Deployment): Promise<void> {
  const outcomes = await deliver(
    items.map(({ body }) => body),
    env,
  );
  const failed = items.flatMap((item, i): Failed[] => {
    const outcome = outcomes[i]!;
    if (!outcome.ok) return [{ item, outcome }];
    item.ack();
    deployment.meter.count("queue:relay,done");
    deployment.meter.observe("relay_lag", Math.max(0, Date.now() - item.timestamp.getTime()) / 1000);
    return [];
  });
  putOff(
    failed.filter(({ outcome }) => !outcome.isFinal),
    deployment,
  );
  await askAgain(failed, env);
  await bury(
    failed.filter(({ outcome }) => outcome.isFinal),
    env,
    deployment,
  );
}

function putOff(failed: readonly Failed[], { meter }: Deployment): void {
  for (const { item, outcome } of failed) {
    if (item.attempts >= TOLD_ATTEMPTS_MIN) tell("relay.retry", item, outcome.reason);
    meter.count("queue:relay,retried");
    item.retry({ delaySeconds: waitAfter(RELAY_RETRY, item.attempts) });
  }
}

/** What has been early for so long does not wait for what overtook it: the queue has lost something, or given it up. */
async function askAgain(failed: readonly Failed[], { CHAT_ROOM }: Bindings): Promise<void> {
  const missing = failed.flatMap(({ item: { attempts, body }, outcome: { reached } }) =>
    reached && attempts >= LOST_ATTEMPTS_MIN ? [{ body, reached }] : [],
  );
  await Promise.allSettled(
    missing.map(async ({ body: { from, to, epoch, since, linkedAtMs }, reached }) => {
      await CHAT_ROOM.getByName(from).rewind(to, { epoch, since, linkedAtMs }, reached);
    }),
  );
}

/** Another try would change nothing. */
async function bury(failed: readonly Failed[], env: Bindings, deployment: Deployment): Promise<void> {
  if (failed.length === 0) return;
  try {
    await deadLettersOf(env)!.bury(failed.map(({ item, outcome: { reason } }) => ({ batch: item.body, reason })));
  } catch {
    // It is tried again, and refused again, until it can be buried.
    return putOff(failed, deployment);
  }
  for (const { item, outcome } of failed) {
    tell("relay.dead", item, outcome.reason);
    deployment.meter.count("queue:relay,dead");
    item.ack();
  }
}

/** One line for whoever looks at the logs; never what was said. */
export function tell(event: string, { body, attempts }: Item, reason: string): void {
  writeLog("warn", event, { reason, ...describeBatch(body), attempts });
}
