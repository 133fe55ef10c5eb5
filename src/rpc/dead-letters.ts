// Stores batches that no room takes, and logs them (RLY-9, ANN-6). Called by the consumers of the relay's queues and by the delivery
// of announcements.
import type { DeadBatch } from "../protocol/relay-batch.ts";
import { describeBatch } from "../relay/readable-batch.ts";
import { writeLog, type LogSettings } from "../settings/log.ts";
import type { Bindings } from "./bindings.ts";
import { DEAD_LETTERS_NAME, type DeadLettersRpc } from "./relay.ts";

/** @returns `undefined` where the deployment does not have the binding */
export function deadLettersOf({ DEAD_LETTERS }: Bindings): DeadLettersRpc | undefined {
  return DEAD_LETTERS?.getByName(DEAD_LETTERS_NAME);
}

interface Dead extends DeadBatch {
  /** Of its message, where a queue counted them. */
  readonly attempts?: number;
}

/** @throws where they cannot be stored */
export async function storeDeadLetters(
  env: Bindings,
  dead: readonly Dead[],
  settings: LogSettings | undefined,
): Promise<void> {
  if (dead.length === 0) return;
  const letters = deadLettersOf(env);
  if (!letters) throw new Error("RELAY: needs the binding DEAD_LETTERS, which the Wrangler configuration lacks");
  await letters.add(dead.map(({ batch, reason }) => ({ batch, reason })));
  for (const { batch, reason, attempts } of dead)
    writeLog(settings, "warn", "relay.dead", {
      reason,
      ...describeBatch(batch),
      ...(attempts !== undefined && { attempts }),
    });
}
