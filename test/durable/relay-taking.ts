// Spies on the batches that a room takes, and makes them fail.
import { vi } from "vitest";

import { ChatRoom } from "../../durable/chat-room.ts";
import type { RelayBatch, RelayOutcome } from "../../src/protocol/relay-batch.ts";

/** @param take replaces the work of a room; `proceed` is the work itself */
export function whenTaking(
  take: (
    batches: readonly RelayBatch[],
    proceed: () => Promise<RelayOutcome[]>,
    state: DurableObjectState,
  ) => Promise<RelayOutcome[]>,
): void {
  type Taking = (this: ChatRoom, batches: readonly RelayBatch[]) => Promise<RelayOutcome[]>;
  const original: Taking = Reflect.get(ChatRoom.prototype, "takeRelayed");
  vi.spyOn(ChatRoom.prototype, "takeRelayed").mockImplementation(async function (this: ChatRoom, batches) {
    const { ctx } = this as unknown as { readonly ctx: DurableObjectState };
    return take(batches, () => original.call(this, batches), ctx);
  });
}
