// The queue of the relay: what came in one batch goes to each room in one call. What a room cannot take yet comes again
// later; what it never will, or what was tried too often, ends with the dead letters (RLY-9).
import type { RelayDoor } from "../../access/relay-door.ts";
import type { RelayBatch, RelayOutcome } from "../../protocol/relay-batch.ts";
import { deploymentOf, type WorkerEnv } from "../deployment.ts";
import { deadLettersOf, deliver } from "../relay-delivery.ts";

type Item = Message<RelayBatch>;
type Failure = Extract<RelayOutcome, { ok: false }>;
interface Failed {
  readonly item: Item;
  readonly outcome: Failure;
}

/** The first try, and `max_retries` of wrangler.toml. Then the platform moves a message to the dead letters. */
export const RELAY_TRIES_MAX = 21;

/** Before the second try, in seconds; doubled each time, … */
const RETRY_SECONDS = 1;
/** … up to this. Together the tries take some nine hours. */
const RETRY_SECONDS_MAX = 3600;

/** While nothing is to cross, or a setting is wrong, messages wait so long, in seconds. */
const OFF_RETRY_SECONDS = 600;

/** So often a batch has to be early before what it waits for is taken for lost: some fifteen seconds. */
const LOST_ATTEMPTS_MIN = 5;

/** What overtook another message comes in its turn the next time: that is nothing to tell. */
const TOLD_ATTEMPTS_MIN = 3;

export async function deliverRelayed(batch: MessageBatch<RelayBatch>, env: WorkerEnv): Promise<void> {
  const deployment = deploymentOf(env);
  if (!deployment || deployment.settings.relay === "off") return batch.retryAll({ delaySeconds: OFF_RETRY_SECONDS });
  const items = batch.messages;
  const outcomes = await deliver(
    items.map(({ body }) => body),
    env,
  );
  const failed = items.flatMap((item, i): Failed[] => {
    const outcome = outcomes[i]!;
    if (!outcome.ok) return [{ item, outcome }];
    item.ack();
    return [];
  });
  putOff(failed.filter(({ outcome }) => !outcome.isFinal));
  await askAgain(failed, env);
  await bury(
    failed.filter(({ outcome }) => outcome.isFinal),
    env,
  );
}

function putOff(failed: readonly Failed[]): void {
  for (const { item, outcome } of failed) {
    if (item.attempts >= TOLD_ATTEMPTS_MIN) tell("relay.retry", item, outcome.reason);
    item.retry({ delaySeconds: Math.min(RETRY_SECONDS * 2 ** (item.attempts - 1), RETRY_SECONDS_MAX) });
  }
}

/** What has been early for so long does not wait for what overtook it: the queue has lost something, or given it up. */
async function askAgain(failed: readonly Failed[], { CHAT_ROOM }: WorkerEnv): Promise<void> {
  const missing = failed.flatMap(({ item: { attempts, body }, outcome: { reached } }) =>
    reached && attempts >= LOST_ATTEMPTS_MIN ? [{ body, reached }] : [],
  );
  await Promise.allSettled(
    missing.map(async ({ body: { from, to, epoch, since, linkedAtMs }, reached }) => {
      const door = CHAT_ROOM.getByName(from) as unknown as RelayDoor;
      await door.rewind(to, { epoch, since, linkedAtMs }, reached);
    }),
  );
}

/** Another try would change nothing. */
async function bury(failed: readonly Failed[], env: WorkerEnv): Promise<void> {
  if (failed.length === 0) return;
  try {
    await deadLettersOf(env)!.bury(failed.map(({ item, outcome: { reason } }) => ({ batch: item.body, reason })));
  } catch {
    // It is tried again, and refused again, until it can be buried.
    return putOff(failed);
  }
  for (const { item, outcome } of failed) {
    tell("relay.dead", item, outcome.reason);
    item.ack();
  }
}

/** One line for whoever looks at the logs; never what was said. */
export function tell(event: string, { body: { from, to, posts, changes }, attempts }: Item, reason: string): void {
  const counts = { messages: posts.items.length, changes: changes.items.length };
  console.warn(JSON.stringify({ event, reason, from, to, ...counts, attempts }));
}
