// Delivers dead letters again, relayed batches and pieces of announcements (RLY-9, ANN-6). Called by api/calls/relay.ts.
import type { DeadBatch, RelayBatch, RelayOutcome } from "../../protocol/relay-batch.ts";
import { deliverParts } from "../../relay/announcing.ts";
import { isReadablePart } from "../../relay/readable-batch.ts";
import { announcementsOf } from "../../rpc/announcements.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import { turnPorts } from "../../rpc/turn-ports.ts";
import { deliverBatches } from "./relayed.ts";

/** @returns the outcomes, in the order of the batches */
export async function redeliver(
  batches: ReadonlyArray<DeadBatch["batch"]>,
  env: Bindings,
): Promise<readonly RelayOutcome[]> {
  const parts = batches.filter(isReadablePart);
  const relayed = batches.filter((batch): batch is RelayBatch => !isReadablePart(batch));
  const announce: Parameters<typeof deliverParts>[1]["announce"] = (room, announcements) =>
    env.CHAT_ROOM.getByName(room).takeAnnounced(announcements);
  const [delivered, taken] = await Promise.all([
    deliverParts(parts, { announce, ...turnPorts }),
    deliverBatches(relayed, env),
  ]);
  const notes = delivered.filter(({ failure }) => !failure).map(({ note }) => note);
  if (notes.length > 0) await announcementsOf(env)?.note(notes, []);
  const outcomes = new Map<unknown, RelayOutcome>([
    ...parts.map((part, i) => [part, delivered[i]!.failure ?? { ok: true }] as const),
    ...relayed.map((batch, i) => [batch, taken[i]!] as const),
  ]);
  return batches.map((batch) => outcomes.get(batch)!);
}
