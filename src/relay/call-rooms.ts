// Calls many rooms, with one call per room for everything that is addressed to it. Used to deliver relayed batches,
// announcements and dead letters.
import { TakingTurns, type TurnPorts } from "./taking-turns.ts";

/** Calls under way at the same time. */
const CALLS_AT_ONCE = 50;

/** The room may have taken the items although its answer was lost. It recognises them, so another try does no harm. */
export const UNREACHED = { ok: false, isFinal: false, reason: "the room could not be reached" } as const;

/**
 * @param call resolves with the outcomes of the items, in their order
 * @returns the outcomes of all items, in their order; a call that fails is the outcome of its items
 */
export async function callRooms<Item, Outcome>(
  items: readonly Item[],
  roomOf: (item: Item) => string,
  call: (room: string, items: readonly Item[]) => Promise<readonly Outcome[]>,
  turnPorts: TurnPorts,
): Promise<Array<Outcome | typeof UNREACHED>> {
  const outcomes = new Map<Item, Outcome | typeof UNREACHED>();
  const rooms = Map.groupBy(items, roomOf).entries();
  // Rooms may share a thread with each other, and with rooms that get no call.
  const turns = new TakingTurns(turnPorts);
  const work = async (): Promise<void> => {
    for (const [room, ofRoom] of rooms) {
      await turns.next();
      const answers = await tryCall(room, ofRoom, call);
      ofRoom.forEach((item, i) => outcomes.set(item, answers[i] ?? UNREACHED));
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
  return items.map((item) => outcomes.get(item)!);
}

async function tryCall<Item, Outcome>(
  room: string,
  items: readonly Item[],
  call: (room: string, items: readonly Item[]) => Promise<readonly Outcome[]>,
): Promise<readonly Outcome[]> {
  try {
    return await call(room, items);
  } catch {
    return [];
  }
}
