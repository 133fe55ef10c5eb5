// Brings dead letters to their rooms after all, whatever kind they are, and says what became of each (RLY-9, ANN-6).
import type { AnnounceDestination, AnnounceOutcome, AnnouncePart } from "../protocol/announcement.ts";
import type { DeadBatch, RelayBatch, RelayOutcome } from "../protocol/relay-batch.ts";
import { forRoom } from "../relay/announcing.ts";
import { isReadablePart } from "../relay/readable-batch.ts";
import { announcementsOf } from "./announcing.ts";
import type { Bindings } from "../rpc/bindings.ts";
import { deliver } from "./relay-delivery.ts";

/** @returns what became of each, in their order */
export async function deliverDead(
  batches: ReadonlyArray<DeadBatch["batch"]>,
  env: Bindings,
): Promise<readonly RelayOutcome[]> {
  const relayed = batches.filter((batch): batch is RelayBatch => !isReadablePart(batch));
  const ofRelayed = await deliver(relayed, env);
  return Promise.all(
    batches.map(async (batch) =>
      isReadablePart(batch) ? deliverPart(batch, env) : ofRelayed[relayed.indexOf(batch)]!,
    ),
  );
}

/** Most were buried room by room; what nobody could read at the time was buried whole. */
async function deliverPart(part: AnnouncePart, env: Bindings): Promise<RelayOutcome> {
  try {
    const outcomes = await Promise.all(part.to.map((destination) => tell(part, destination, env)));
    const failed = outcomes.find(({ outcome }) => !outcome.ok)?.outcome;
    if (failed && !failed.ok) return failed;
    const reached = outcomes.flatMap(({ reached }) => reached);
    await announcementsOf(env)?.note(
      [{ id: part.announce.id, part: part.part, reached, failed: [], isOver: true }],
      [],
    );
    return { ok: true };
  } catch {
    return { ok: false, isFinal: false, reason: "the room could not be reached" };
  }
}

async function tell(
  part: AnnouncePart,
  destination: AnnounceDestination,
  env: Bindings,
): Promise<{ readonly outcome: AnnounceOutcome; readonly reached: readonly number[] }> {
  const { number, room } = destination;
  const outcome = (await env.CHAT_ROOM.getByName(room).takeAnnounced([forRoom({ part, destination })]))[0]!;
  if (!outcome.ok) return { outcome, reached: [] };
  return { outcome, reached: number === undefined ? outcome.reached : outcome.isHeard ? [number] : [] };
}
