// Brings dead letters to their rooms after all, whatever kind they are, and says what became of each (RLY-9, ANN-6).
import type { AnnouncePart } from "../protocol/announcement.ts";
import type { DeadBatch, RelayBatch, RelayOutcome } from "../protocol/relay-batch.ts";
import { forRoom } from "../relay/announcing.ts";
import { isReadablePart } from "../relay/readable-batch.ts";
import { announceDoorOf, announcementsOf } from "./announcing.ts";
import type { WorkerEnv } from "./deployment.ts";
import { deliver } from "./relay-delivery.ts";

/** @returns what became of each, in their order */
export async function deliverDead(
  batches: ReadonlyArray<DeadBatch["batch"]>,
  env: WorkerEnv,
): Promise<readonly RelayOutcome[]> {
  const relayed = batches.filter((batch): batch is RelayBatch => !isReadablePart(batch));
  const ofRelayed = await deliver(relayed, env);
  return Promise.all(
    batches.map(async (batch) =>
      isReadablePart(batch) ? deliverPart(batch, env) : ofRelayed[relayed.indexOf(batch)]!,
    ),
  );
}

async function deliverPart(part: AnnouncePart, env: WorkerEnv): Promise<RelayOutcome> {
  const destination = part.to[0]!;
  const { number, room } = destination;
  try {
    const outcome = (await announceDoorOf(env, room).takeAnnounced([forRoom({ part, destination })]))[0]!;
    if (!outcome.ok) return outcome;
    const reached = number === undefined ? outcome.reached : outcome.isHeard ? [number] : [];
    await announcementsOf(env)?.note(
      [{ id: part.announce.id, part: part.part, reached, failed: [], isOver: true }],
      [],
    );
    return { ok: true };
  } catch {
    return { ok: false, isFinal: false, reason: "the room could not be reached" };
  }
}
