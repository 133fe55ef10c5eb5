// Delivers announcements to their rooms, with one call per room for all that is delivered together. Items that a room does not take are
// sent again and in the end become dead letters (ANN-5, ANN-6). Called by consumer.ts and by the Announcements object.
import { waitAfter } from "../../clock/rates.ts";
import type {
  AnnouncedHere,
  AnnounceDestination,
  AnnounceItem,
  AnnounceLook,
  AnnounceNote,
  AnnounceOutcome,
  AnnouncePart,
  AnnounceTotal,
  AnnounceWalk,
  Whereabouts,
} from "../../protocol/announcement.ts";
import { packRooms } from "./packing.ts";
import { callRooms, UNREACHED } from "../../relay/call-rooms.ts";
import type { TurnPorts } from "../../relay/taking-turns.ts";
import { RELAY_RETRY, RELAY_TRIES_MAX } from "../../relay/tries.ts";

/** Users whom no lobby knows are looked for once more after this, in seconds: the lobby knows newcomers by then (ANN-7). */
export const LOOK_AGAIN_SECONDS = 8;

/** Calls of one run: the platform limits the calls of one request. The next run makes the rest. */
export const ANNOUNCE_CALLS_MAX = 500;

/** Rooms of a list that one step takes. */
export const WALK_ROOMS_MAX = 500;

type DeadPart = { readonly batch: AnnouncePart; readonly reason: string };

export interface AnnouncePorts extends TurnPorts {
  readonly announce: (room: string, announcements: readonly AnnouncedHere[]) => Promise<readonly AnnounceOutcome[]>;
  /** Lists rooms by name, those behind `after`. */
  readonly list: (
    prefix: string,
    options: { readonly after?: string; readonly limit: number; readonly isOccupied: boolean },
  ) => Promise<{ readonly rooms: readonly string[]; readonly hasMore: boolean }>;
  /** Finds the rooms of users, as far as the lobbies know them. */
  readonly find: (users: readonly string[]) => Promise<Pick<Whereabouts, "found">>;
  /** Resolves once the items are stored, to be delivered later. */
  readonly send: (items: readonly AnnounceItem[], delaySeconds: number) => Promise<void>;
  readonly note: (notes: readonly AnnounceNote[], totals: readonly AnnounceTotal[]) => Promise<void>;
  readonly storeDeadLetters: (dead: readonly DeadPart[]) => Promise<void>;
  readonly report: (error: unknown) => void;
}

/** @throws if the remaining work could not be sent or noted: then all items have to come again, which does no harm */
export async function announceItems(items: readonly AnnounceItem[], ports: AnnouncePorts): Promise<void> {
  const walks = items.filter((item) => "walk" in item);
  const looks = items.filter((item) => "look" in item);
  const found = await Promise.all(looks.map((look) => lookAgain(look, ports)));
  const parts = [...items.filter((item) => "to" in item), ...found];
  const totals: AnnounceTotal[] = [];
  for (const walk of walks) totals.push(...(await walkOn(walk, ports)));
  const now = withinLimit(parts);
  if (now.length < parts.length) await ports.send(parts.slice(now.length), 0);
  const delivered = await deliverParts(now, ports);
  for (const { again } of delivered) if (again) await ports.send([again], waitAfter(RELAY_RETRY, again.tries));
  const dead = delivered.flatMap(({ dead }) => dead);
  if (dead.length > 0) await ports.storeDeadLetters(dead);
  const notes = delivered.map(({ note }) => note);
  if (notes.length + totals.length > 0) await ports.note(notes, totals);
}

/**
 * Delivers all items together. If that fails it delivers each by itself, so that no item holds up the others.
 * @returns the items that have to come again
 */
export async function announceEach(
  items: readonly AnnounceItem[],
  ports: AnnouncePorts,
): Promise<ReadonlySet<AnnounceItem>> {
  try {
    await announceItems(items, ports);
    return new Set();
  } catch (error) {
    if (items.length === 1) ports.report(error);
    if (items.length <= 1) return new Set(items);
    const failed: AnnounceItem[] = [];
    for (const item of items) failed.push(...(await announceEach([item], ports)));
    return new Set(failed);
  }
}

/** At least one part, however large it is. */
function withinLimit(parts: readonly AnnouncePart[]): readonly AnnouncePart[] {
  const rooms = new Set<string>();
  const end = parts.findIndex(({ to }, i) => {
    for (const { room } of to) rooms.add(room);
    return i > 0 && rooms.size > ANNOUNCE_CALLS_MAX;
  });
  return end === -1 ? parts : parts.slice(0, end);
}

/** Looks again for users whom no lobby knew. */
async function lookAgain({ announce, part, look }: AnnounceLook, { find }: AnnouncePorts): Promise<AnnouncePart> {
  const { found } = await find(look.map(([, user]) => user));
  const to = found.map(([room, users]) => ({ room, users: users.map((place) => look[place]!) }));
  return { announce, part, tries: 0, to };
}

/** Sends the next rooms of a list as parts, and the rest of the list as another walk. */
async function walkOn({ announce, walk }: AnnounceWalk, { list, send }: AnnouncePorts): Promise<AnnounceTotal[]> {
  const { prefix, after } = walk;
  const isOccupied = announce.event !== "chat-message";
  const page = await list(prefix, { ...(after !== undefined && { after }), limit: WALK_ROOMS_MAX, isOccupied });
  const parts = packRooms(announce, page.rooms, { firstNumber: walk.rooms, firstPart: walk.parts });
  const walked = { rooms: walk.rooms + page.rooms.length, parts: walk.parts + parts.length };
  const last = page.rooms.at(-1);
  const isEnd = !page.hasMore || last === undefined;
  await send([...parts, ...(isEnd ? [] : [{ announce, walk: { prefix, after: last, ...walked } }])], 0);
  return isEnd ? [{ id: announce.id, accepted: walked.rooms, parts: walked.parts }] : [];
}

interface Delivered {
  readonly note: AnnounceNote;
  /** The destinations that get another try. */
  readonly again: AnnouncePart | undefined;
  readonly dead: readonly DeadPart[];
  /** The first failure, if any. */
  readonly failure: Failure | undefined;
}

type Failure = Extract<AnnounceOutcome, { ok: false }>;

interface Call {
  readonly part: AnnouncePart;
  readonly destination: AnnounceDestination;
}

/** @returns the result of each part, in their order */
export async function deliverParts(
  parts: readonly AnnouncePart[],
  { announce, ...turnPorts }: Pick<AnnouncePorts, "announce" | keyof TurnPorts>,
): Promise<Delivered[]> {
  const calls = parts.flatMap((part) => part.to.map((destination): Call => ({ part, destination })));
  const outcomes = await callRooms(
    calls,
    ({ destination }) => destination.room,
    (room, ofRoom) => announce(room, ofRoom.map(announcedHere)),
    turnPorts,
  );
  let next = 0;
  return parts.map((part) => resultOf(part, outcomes.slice(next, (next += part.to.length))));
}

/** The result of a part that the queue has given up. */
export const givenUp = (part: AnnouncePart): Delivered =>
  resultOf(
    { ...part, tries: RELAY_TRIES_MAX },
    part.to.map(() => UNREACHED),
  );

function announcedHere({ part: { announce, unlocated }, destination: { users = unlocated } }: Call): AnnouncedHere {
  return { ...announce, ...(users && { users }), ...(unlocated && { wantsPeople: true }) };
}

/** @param outcomes of its destinations, in their order */
function resultOf(part: AnnouncePart, outcomes: readonly AnnounceOutcome[]): Delivered {
  const { announce, unlocated } = part;
  const [reached, failed]: [number[], number[]] = [[], []];
  const left: AnnounceDestination[] = [];
  const dead: DeadPart[] = [];
  const isLastTry = part.tries + 1 >= RELAY_TRIES_MAX;
  part.to.forEach((destination, i) => {
    const outcome = outcomes[i]!;
    const { number, users = unlocated } = destination;
    const numbers = number === undefined ? (users ?? []).map(([user]) => user) : [number];
    if (outcome.ok) reached.push(...(number === undefined ? outcome.reached : outcome.isHeard ? numbers : []));
    else if (outcome.isFinal || isLastTry) {
      failed.push(...numbers);
      const reason = outcome.isFinal ? outcome.reason : "tried too often";
      dead.push({ batch: { ...part, tries: 0, to: [destination] }, reason });
    } else left.push(destination);
  });
  const again = left.length > 0 ? { ...part, tries: part.tries + 1, to: left } : undefined;
  const note = { id: announce.id, part: part.part, reached, failed, isOver: !again };
  return { note, again, dead, failure: outcomes.find((outcome) => !outcome.ok) };
}
