// Brings batches to the rooms that they are for: one call per room, whatever else it is that could not be reached.
import { turnPorts } from "../rpc/turn-ports.ts";
import type { DeadLettersRpc, RelayRpc } from "../rpc/relay.ts";
import { DEAD_LETTERS_NAME } from "../rpc/relay.ts";
import type { RelayBatch, RelayOutcome } from "../protocol/relay-batch.ts";
import { isReadable, UNREADABLE } from "../relay/readable-batch.ts";
import { TakingTurns } from "../relay/taking-turns.ts";
import type { Bindings } from "../rpc/bindings.ts";

/** @returns what became of each, in their order */
export async function deliver(batches: readonly RelayBatch[], { CHAT_ROOM }: Bindings): Promise<RelayOutcome[]> {
  const outcomes = new Map<RelayBatch, RelayOutcome>();
  const byRoom = Map.groupBy(batches.filter(isReadable), ({ to }) => to);
  // The rooms may share a thread with each other, and with rooms that nothing is relayed to.
  const turns = new TakingTurns(turnPorts);
  await Promise.all(
    [...byRoom].map(async ([room, ofRoom]) => {
      await turns.next();
      const taken = await deliverTo(CHAT_ROOM.getByName(room), ofRoom);
      ofRoom.forEach((batch, i) => outcomes.set(batch, taken[i]!));
    }),
  );
  return batches.map((batch) => outcomes.get(batch) ?? { ok: false, isFinal: false, reason: UNREADABLE });
}

async function deliverTo(room: RelayRpc, batches: readonly RelayBatch[]): Promise<readonly RelayOutcome[]> {
  try {
    return await room.takeRelayed(batches);
  } catch {
    // It may have taken them and could not say so: it knows what it has.
    return batches.map(() => ({ ok: false, isFinal: false, reason: "the room could not be reached" }));
  }
}

/** @returns `undefined` where the deployment has no place for them */
export function deadLettersOf({ DEAD_LETTERS }: Bindings): DeadLettersRpc | undefined {
  return DEAD_LETTERS?.getByName(DEAD_LETTERS_NAME);
}
