// Consumes relayed batches: those of one queue batch go to each room in one call. A batch that a room cannot take yet is retried; one
// that it never will take, or that was tried too often, is buried (RLY-9). Called by crossing.ts.
import { waitAfter } from "../../clock/backoff.ts";
import type { RelayBatch, RelayOutcome } from "../../protocol/relay-batch.ts";
import { callRooms } from "../../relay/call-rooms.ts";
import { describeBatch, isReadable, UNREADABLE } from "../../relay/readable-batch.ts";
import { RELAY_RETRY } from "../../relay/tries.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import { bury } from "../../rpc/dead-letters.ts";
import { turnPorts } from "../../rpc/turn-ports.ts";
import { writeLog } from "../../settings/log.ts";
import { deploymentOf, type Deployment } from "../deployment.ts";

type Item = Message<RelayBatch>;
interface Failed {
  readonly item: Item;
  readonly outcome: Extract<RelayOutcome, { ok: false }>;
}

/** After so many early tries of a batch, some fifteen seconds, what it waits for counts as lost. */
const LOST_ATTEMPTS_MIN = 5;

/** The first retries are not logged: a batch that overtook another one is taken at the next try. */
const LOGGED_ATTEMPTS_MIN = 3;

export async function deliverRelayed(items: readonly Item[], env: Bindings, deployment: Deployment): Promise<void> {
  const outcomes = await deliverBatches(
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
  const dead = failed.filter(({ outcome }) => outcome.isFinal);
  retry(
    failed.filter(({ outcome }) => !outcome.isFinal),
    deployment,
  );
  await rewind(failed, env);
  try {
    await buryItems(dead, env);
  } catch {
    // Retried, and refused again, until it can be buried.
    retry(dead, deployment);
  }
}

/** @returns the outcomes, in the order of the batches */
export async function deliverBatches(
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
  for (const { item, outcome } of failed) {
    const { attempts, body } = item;
    if (attempts >= LOGGED_ATTEMPTS_MIN)
      writeLog("warn", "relay.retry", { reason: outcome.reason, ...describeBatch(body), attempts });
    meter.count("queue:relay,retried");
    item.retry({ delaySeconds: waitAfter(RELAY_RETRY, attempts) });
  }
}

/** Has the passing room send again what a batch has been waiting for so long: the queue has lost it, or given it up. */
async function rewind(failed: readonly Failed[], { CHAT_ROOM }: Bindings): Promise<void> {
  const missing = failed.flatMap(({ item: { attempts, body }, outcome: { reached } }) =>
    reached && attempts >= LOST_ATTEMPTS_MIN ? [{ body, reached }] : [],
  );
  await Promise.allSettled(
    missing.map(async ({ body: { from, to, epoch, since, linkedAtMs }, reached }) =>
      CHAT_ROOM.getByName(from).rewind(to, { epoch, since, linkedAtMs }, reached),
    ),
  );
}

/** @throws where they cannot be stored */
async function buryItems(failed: readonly Failed[], env: Bindings): Promise<void> {
  await bury(
    env,
    failed.map(({ item: { body, attempts }, outcome: { reason } }) => ({ batch: body, reason, attempts })),
  );
  for (const { item } of failed) {
    deploymentOf(env)?.meter.count("queue:relay,dead");
    item.ack();
  }
}

/**
 * Buries messages of the queue of dead letters, which would forget them after some days.
 * @throws where they cannot be stored: the queue delivers them again for some 16 hours (`retry_delay` and `max_retries` of wrangler.toml)
 */
export async function buryRelayed(items: readonly Item[], env: Bindings): Promise<void> {
  const outcome = { ok: false, isFinal: true, reason: "tried too often" } as const;
  const each = (some: readonly Item[]): Promise<void> =>
    buryItems(
      some.map((item) => ({ item, outcome })),
      env,
    );
  try {
    await each(items);
  } catch {
    // One of them may be what no call can carry.
    const results = await Promise.allSettled(items.map((item) => each([item])));
    const failure = results.find((result) => result.status === "rejected");
    if (failure) throw failure.reason;
  }
}
