// Builds the list of rooms: the reader's own with what is new there, and others that the lobby lists. Pure; the room list and the chat store
// call it.
import { isRoomName, type JoinedRoom, type RoomOverview } from "parley-rooms/client";

import { bare, named, visible } from "./names.ts";
import { idTagOf } from "./people.ts";
import { countIn, type MutedRooms } from "./news.ts";

/** The other one of a conversation between two people. */
export interface DirectPerson {
  readonly user: string;
  readonly name: string;
}

export interface RoomItem {
  readonly room: string;
  /** Absent where the lobby does not know the room. */
  readonly members?: number;
  /** Messages of others that the reader has not read; in a muted room, those alone that speak to the reader. */
  readonly unread: number;
  /** Those that speak to the reader. */
  readonly mentions: number;
  readonly isMuted: boolean;
  readonly direct?: DirectPerson;
  /** Stands beside the other one's name where the reader has conversations with several people of that name. */
  readonly tag?: string;
}

interface Known {
  readonly listed: readonly RoomOverview[];
  readonly joined: readonly JoinedRoom[];
  /** Rooms that the reader has entered in this browser. */
  readonly entered: readonly string[];
  readonly current: string;
  readonly rules: MutedRooms;
  /** The part of a name that the reader types to find a room. */
  readonly filter?: string;
  /** The shown order while the reader points at the list: new rooms come below, and gone ones keep their places. */
  readonly held?: readonly string[];
}

/** Server and page name such rooms so. */
const DIRECT_PREFIX = "dm~";

export const isDirect = (room: string): boolean => room.startsWith(DIRECT_PREFIX);

/** A room's name as people write it: "My Room" is `my-room`. @returns `undefined` where characters are left that no room's name has */
export function roomNameOf(typed: string): string | undefined {
  const name = typed.trim();
  const plain = name.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase().replaceAll(/\s+/g, "-");
  return [name, plain].find(isRoomName);
}

export const ROOM_NAME_RULE = "A room's name has letters, digits and _ . ~ - alone, and begins with a letter or digit.";

/** The room in words for titles, labels and sentences: the other one's name, or `#` and the room's. */
export function titleOf(room: string, direct: DirectPerson | undefined, tag = ""): string {
  if (direct) return `${named(direct.name)} ${tag}`.trimEnd();
  return isDirect(room) ? "Direct message" : `#${room}`;
}

/** The reader's own rooms come first; both parts are sorted by name, so that the list does not move under the pointer. */
export function roomItems({ listed, joined, entered, current, rules, filter = "", held = [] }: Known): RoomItem[] {
  const places = new Map(held.map((room, at) => [room, at]));
  const byName = new Map<string, RoomItem>();
  const own = new Set([...entered, current]);
  const plain = (room: string) => ({ room, unread: 0, mentions: 0, isMuted: rules.muted.has(room) });
  for (const room of [...held, ...own]) byName.set(room, plain(room));
  for (const { room, members } of listed) byName.set(room, { ...plain(room), members });
  for (const news of joined) {
    const { room, members, lastSeq, mentions, direct } = news;
    // The other one has opened it, and not written yet.
    if (direct && lastSeq === 0 && !own.has(room)) continue;
    own.add(room);
    const known = { ...plain(room), members, ...(direct && { direct }) };
    byName.set(room, room === current ? known : { ...known, unread: countIn(news, rules), mentions });
  }
  const sortName = ({ room, direct }: RoomItem): string => (direct ? bare(direct.name) : room);
  const wanted = filter.trim().toLowerCase();
  return withTags([...byName.values()])
    .filter((item) => sortName(item).toLowerCase().includes(wanted))
    .sort(
      (a, b) =>
        (places.get(a.room) ?? Infinity) - (places.get(b.room) ?? Infinity) ||
        Number(own.has(b.room)) - Number(own.has(a.room)) ||
        (sortName(a) < sortName(b) ? -1 : 1),
    );
}

/** Names are no identities: two people may have one. */
function withTags(items: readonly RoomItem[]): RoomItem[] {
  const counts = new Map<string, number>();
  for (const { direct } of items)
    if (direct) counts.set(visible(direct.name), (counts.get(visible(direct.name)) ?? 0) + 1);
  return items.map((item) =>
    item.direct && counts.get(visible(item.direct.name))! > 1 ? { ...item, tag: idTagOf(item.direct.user) } : item,
  );
}

/** The next room above (-1) or below (1) the current one, all around. */
export function neighbour(items: readonly RoomItem[], current: string, step: 1 | -1): string | undefined {
  const at = items.findIndex(({ room }) => room === current);
  return items.at((at + step) % items.length)?.room;
}
