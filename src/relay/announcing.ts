// Brings announcements to their rooms: one call per room for all that came in one go, and what becomes of what a room does
// not take (ANN-5, ANN-6). Run by the queue's consumer, or by the object that does without a queue.
import type {
  AnnouncedHere,
  AnnounceDestination,
  AnnounceItem,
  AnnounceNote,
  AnnounceOutcome,
  AnnouncePart,
  AnnounceTotal,
  AnnounceLook,
  AnnounceWalk,
  Whereabouts,
} from "../protocol/announcement.ts";
import { waitAfter, type Backoff } from "../clock/backoff.ts";
import { packRooms } from "./announce-packing.ts";
import { TakingTurns, type TurnPorts } from "./taking-turns.ts";

/** The first try and those that follow; then a destination is a dead letter. Together they take some nine hours. */
export const ANNOUNCE_TRIES_MAX = 21;

/** In seconds. */
const RETRY: Backoff = { first: 1, max: 3600 };

/**
 * After so long users are looked for once more who were nowhere: who came just before is known to the lobby by then (ANN-7).
 * In seconds.
 */
export const LOOK_AGAIN_SECONDS = 8;

/** Calls that one run makes: what one request may ask of others is limited by the platform. The rest comes next. */
export const ANNOUNCE_CALLS_MAX = 500;

/** And so many of them at once. */
const CALLS_AT_ONCE = 50;

/** Rooms of a list that one step takes. */
export const WALK_ROOMS_MAX = 500;

export interface AnnouncePorts extends TurnPorts {
  readonly announce: (room: string, announcements: readonly AnnouncedHere[]) => Promise<readonly AnnounceOutcome[]>;
  /** Rooms by name, behind `after`. */
  readonly list: (
    prefix: string,
    options: { readonly after?: string; readonly limit: number; readonly isOccupied: boolean },
  ) => Promise<{ readonly rooms: readonly string[]; readonly hasMore: boolean }>;
  /** Where users are now, as far as the lobby knows. */
  readonly find: (users: readonly string[]) => Promise<Pick<Whereabouts, "found">>;
  /** Resolves once they are sure to come again. */
  readonly send: (items: readonly AnnounceItem[], delaySeconds: number) => Promise<void>;
  readonly note: (notes: readonly AnnounceNote[], totals: readonly AnnounceTotal[]) => Promise<void>;
  readonly bury: (dead: ReadonlyArray<{ readonly batch: AnnouncePart; readonly reason: string }>) => Promise<void>;
}

/** @throws where what is left to do could not be noted: then all of it has to come again, and harms nobody */
export async function announceItems(items: readonly AnnounceItem[], ports: AnnouncePorts): Promise<void> {
  const walks = items.filter((item) => "walk" in item);
  const looks = items.filter((item) => "look" in item);
  const found = await Promise.all(looks.map((look) => lookAgain(look, ports)));
  const parts = [...items.filter((item) => "to" in item), ...found];
  const totals: AnnounceTotal[] = [];
  for (const walk of walks) totals.push(...(await step(walk, ports)));
  const now = withinLimit(parts);
  if (now.length < parts.length) await ports.send(parts.slice(now.length), 0);
  const told = await tell(now, ports);
  for (const { again } of told) if (again) await ports.send([again], waitAfter(RETRY, again.tries));
  const dead = told.flatMap(({ dead }) => dead);
  if (dead.length > 0) await ports.bury(dead);
  const notes = told.map(({ note }) => note);
  if (notes.length + totals.length > 0) await ports.note(notes, totals);
}

/**
 * The same; where it cannot be done to all of them, to each by itself, so that none is in the way of the others.
 * @returns those that have to come again
 */
export async function announceEach<Item>(
  items: readonly Item[],
  bodyOf: (item: Item) => AnnounceItem,
  ports: AnnouncePorts & { readonly report: (error: unknown) => void },
): Promise<readonly Item[]> {
  try {
    await announceItems(items.map(bodyOf), ports);
    return [];
  } catch (error) {
    if (items.length > 1) {
      const left: Item[] = [];
      for (const item of items) left.push(...(await announceEach([item], bodyOf, ports)));
      return left;
    }
    ports.report(error);
    return items;
  }
}

/** At least one, however large it is. */
function withinLimit(parts: readonly AnnouncePart[]): readonly AnnouncePart[] {
  const rooms = new Set<string>();
  const end = parts.findIndex(({ to }, i) => {
    for (const { room } of to) rooms.add(room);
    return i > 0 && rooms.size > ANNOUNCE_CALLS_MAX;
  });
  return end === -1 ? parts : parts.slice(0, end);
}

/** Where users are who were nowhere a moment ago. */
async function lookAgain({ announce, part, look }: AnnounceLook, { find }: AnnouncePorts): Promise<AnnouncePart> {
  const { found } = await find(look.map(([, user]) => user));
  const to = found.map(([room, users]) => ({ room, users: users.map((place) => look[place]!) }));
  return { announce, part, tries: 0, to };
}

/** The next rooms of a list, as parts, and what is left of it. */
async function step({ announce, walk }: AnnounceWalk, { list, send }: AnnouncePorts): Promise<AnnounceTotal[]> {
  const { prefix, after } = walk;
  const isOccupied = announce.event !== "chat-message";
  const page = await list(prefix, { ...(after !== undefined && { after }), limit: WALK_ROOMS_MAX, isOccupied });
  const parts = packRooms(announce, page.rooms, { firstNumber: walk.rooms, firstPart: walk.parts });
  const so = { rooms: walk.rooms + page.rooms.length, parts: walk.parts + parts.length };
  const last = page.rooms.at(-1);
  const isEnd = !page.hasMore || last === undefined;
  await send([...parts, ...(isEnd ? [] : [{ announce, walk: { prefix, after: last, ...so } }])], 0);
  return isEnd ? [{ id: announce.id, accepted: so.rooms, parts: so.parts }] : [];
}

interface Told {
  readonly note: AnnounceNote;
  /** What is left of the part. */
  readonly again: AnnouncePart | undefined;
  readonly dead: ReadonlyArray<{ readonly batch: AnnouncePart; readonly reason: string }>;
}

interface Asked {
  readonly part: AnnouncePart;
  readonly destination: AnnounceDestination;
}

async function tell(parts: readonly AnnouncePart[], { announce, ...turnPorts }: AnnouncePorts): Promise<Told[]> {
  const asked = parts.flatMap((part) => part.to.map((destination): Asked => ({ part, destination })));
  const byRoom = [...Map.groupBy(asked, ({ destination }) => destination.room)];
  const outcomes = new Map<AnnounceDestination, AnnounceOutcome>();
  const ask = async (room: string, ofRoom: readonly Asked[]): Promise<void> => {
    const answers = await askRoom(room, ofRoom, announce);
    ofRoom.forEach(({ destination }, i) => outcomes.set(destination, answers[i]!));
  };
  const waiting = byRoom[Symbol.iterator]();
  // The rooms may share a thread with each other, and with rooms that have nothing to do with it.
  const turns = new TakingTurns(turnPorts);
  const work = async (): Promise<void> => {
    for (const [room, ofRoom] of waiting) {
      await turns.next();
      await ask(room, ofRoom);
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
  return parts.map((part) => resultOf(part, outcomes));
}

async function askRoom(
  room: string,
  asked: readonly Asked[],
  announce: AnnouncePorts["announce"],
): Promise<readonly AnnounceOutcome[]> {
  try {
    return await announce(room, asked.map(forRoom));
  } catch {
    // It may have taken them and could not say so: its connections know what they had.
    return asked.map(() => ({ ok: false, isFinal: false, reason: "the room could not be reached" }));
  }
}

/** What the room is asked to say. */
export function forRoom({ part: { announce, whoever }, destination: { users = whoever } }: Asked): AnnouncedHere {
  return { ...announce, ...(users && { users }), ...(whoever && { wantsPeople: true }) };
}

function resultOf(part: AnnouncePart, outcomes: ReadonlyMap<AnnounceDestination, AnnounceOutcome>): Told {
  const { announce, whoever } = part;
  const [reached, failed]: [number[], number[]] = [[], []];
  const left: AnnounceDestination[] = [];
  const dead: Array<Told["dead"][number]> = [];
  const isLastTry = part.tries + 1 >= ANNOUNCE_TRIES_MAX;
  for (const destination of part.to) {
    const outcome = outcomes.get(destination)!;
    const { number, users = whoever } = destination;
    const numbers = number === undefined ? (users ?? []).map(([user]) => user) : [number];
    if (outcome.ok) reached.push(...(number === undefined ? outcome.reached : outcome.isHeard ? numbers : []));
    else if (outcome.isFinal || isLastTry) {
      failed.push(...numbers);
      const reason = outcome.isFinal ? outcome.reason : "tried too often";
      dead.push({ batch: { ...part, tries: 0, to: [destination] }, reason });
    } else left.push(destination);
  }
  const again = left.length > 0 ? { ...part, tries: part.tries + 1, to: left } : undefined;
  return { note: { id: announce.id, part: part.part, reached, failed, isOver: !again }, again, dead };
}
