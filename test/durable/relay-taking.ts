// Spies on the batches that a room takes, and makes them fail.
import { vi } from "vitest";

import * as deployment from "../../src/index.ts";
import type { RelayBatch, RelayOutcome } from "../../src/protocol/relay-batch.ts";
import type { RelayRpc } from "../../src/rpc/relay.ts";

/** The deployment's rooms, with the calls that the relay adds to them. */
export const RELAY_ROOMS = deployment.default.ChatRoom.prototype as unknown as RelayRpc;

type Taken = Promise<readonly RelayOutcome[]>;

/** @param take replaces the work of a room; `proceed` is the work itself */
export function whenTaking(
  take: (batches: readonly RelayBatch[], proceed: () => Taken, state: DurableObjectState) => Taken,
): void {
  type Taking = (this: RelayRpc, batches: readonly RelayBatch[]) => Taken;
  const original: Taking = Reflect.get(RELAY_ROOMS, "takeRelayed");
  vi.spyOn(RELAY_ROOMS, "takeRelayed").mockImplementation(async function (this: RelayRpc, batches) {
    const { ctx } = this as unknown as { readonly ctx: DurableObjectState };
    return take(batches, () => original.call(this, batches), ctx);
  });
}
