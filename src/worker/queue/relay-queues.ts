// The relay's queues and dead letters, and the warnings of a deployment that lacks them. Links send batches, announcements send parts, and
// each of these features takes its own. Called by those features, and by the call that sends dead letters again.
import type { DeadBatch, RelayOutcome } from "../../protocol/relay-batch.ts";
import { describeBinding, type BindingNames, type Bindings } from "../../rpc/bindings.ts";
import type { Settings } from "../../settings/settings.ts";

const signs = ["RELAY_QUEUE"];

export const RELAY_QUEUES = {
  relay: { suffix: "-relay", signs, binding: "RELAY_QUEUE" },
  relayDead: { suffix: "-relay-dead", signs },
} as const;

/** Messages wait this long while RELAY is `off`, a setting is wrong, or the platform gave up, in seconds. */
export const OFF_RETRY_SECONDS = 600;

/** RLY-10: what RELAY=queue needs and the deployment lacks. A deployment that sets no RELAY may do without links and announcements. */
export function relayWarnings({ relay }: Settings, bindings: Bindings, names: BindingNames): readonly string[] {
  if (relay !== "queue" || !bindings["RELAY"]) return [];
  const needed = [
    ["relayQueue", "RELAY_QUEUE"],
    ["deadLetters", "DEAD_LETTERS"],
  ] as const;
  return needed
    .filter(([use, name]) => names[use] !== false && !bindings[name])
    .map(
      ([, name]) =>
        `RELAY: queue needs ${describeBinding(name)}, which is missing: links and announcements are refused`,
    );
}

/** How a feature delivers its dead letters again. */
export interface Redelivery {
  /** Whether a dead letter is the feature's. Absent: it gets those that no other takes. */
  readonly takes?: (batch: unknown) => boolean;
  /** @returns the outcomes, in the order of the batches */
  readonly redeliver: (
    batches: ReadonlyArray<DeadBatch["batch"]>,
    bindings: Bindings,
  ) => Promise<readonly RelayOutcome[]>;
}
