// Builds the list of rooms in its sections: the reader's own with what is new there, their conversations, and others that the lobby lists. Pure;
// the room list and the chat store call it.
import { isRoomName, type JoinedRoom, type RoomOverview } from "parley-rooms/client";

import { phrase, t } from "./language.ts";
import { bare, named, plain, visible } from "./names.ts";
import { idTagOf } from "./people.ts";
import { countIn, type MutedRooms } from "./news.ts";

/** The other one of a conversation between two people. */
export interface DirectPerson {
  readonly user: string;
  readonly name: string;
}

export const SECTIONS = ["yours", "direct", "discover"] as const;

export interface RoomItem {
  readonly room: string;
  readonly section: (typeof SECTIONS)[number];
  /** What moderators call it. */
  readonly name?: string;
  /** When its newest message was posted; absent where the lobby does not know. */
  readonly lastActivity?: number | null;
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
  /** The shown ones while the reader points at the list: new rooms come below, and gone ones keep their places. */
  readonly held?: ReadonlyArray<Pick<RoomItem, "room" | "section">>;
}

/** Server and page name such rooms so. */
const DIRECT_PREFIX = "dm~";

export const isDirect = (room: string): boolean => room.startsWith(DIRECT_PREFIX);

/** A room's name as people write it: "My Room" is `my-room`. @returns `undefined` where characters are left that no room's name has */
export function roomNameOf(typed: string): string | undefined {
  const name = typed.trim();
  return [name, plain(name).replaceAll(/\s+/g, "-")].find(isRoomName);
}

export const ROOM_NAME_RULE = phrase(
  "A room's name has letters, digits and _ . ~ - alone, and begins with a letter or digit.",
);

interface Titled {
  readonly direct?: DirectPerson | undefined;
  readonly name?: string | undefined;
  readonly tag?: string | undefined;
}

/** The room in words for titles, labels and sentences: the other one's name, or the room's, or `#` and its id. */
export function titleOf(room: string, { direct, name = "", tag = "" }: Titled = {}): string {
  if (direct) return `${named(direct.name)} ${tag}`.trimEnd();
  if (name !== "") return named(name);
  return isDirect(room) ? t("Direct message") : `#${room}`;
}

/** The same beside a mark or a face. */
export const labelOf = ({ room, direct, name }: Titled & Pick<RoomItem, "room">): string =>
  bare(direct?.name ?? name ?? (isDirect(room) ? titleOf(room) : room));

/** Whether the texts of an item have that part. */
function isWanted(item: RoomItem, wanted: string): boolean {
  const texts = item.direct ? [labelOf(item)] : [labelOf(item), item.room];
  return texts.some((text) => plain(text).includes(wanted));
}

/** The reader's own rooms are sorted by name; in the other sections those with the newest messages come first. */
export function roomItems({ listed, joined, entered, current, rules, filter = "", held = [] }: Known): RoomItem[] {
  const places = new Map(held.map(({ room, section }, at) => [room, { at, section }]));
  const byRoom = new Map<string, Omit<RoomItem, "section">>();
  const own = new Set([...entered, current]);
  const blank = (room: string) => ({ room, unread: 0, mentions: 0, isMuted: rules.muted.has(room) });
  for (const room of [...places.keys(), ...own]) byRoom.set(room, blank(room));
  const known = ({ room, members, lastActivity, name }: RoomOverview) => ({
    ...blank(room),
    members,
    lastActivity,
    ...(name !== undefined && { name }),
  });
  for (const overview of listed) byRoom.set(overview.room, known(overview));
  for (const news of joined) {
    const { room, lastSeq, mentions, direct } = news;
    // The other one has opened it, and not written yet.
    if (direct && lastSeq === 0 && !own.has(room)) continue;
    own.add(room);
    const counts = room === current ? {} : { unread: countIn(news, rules), mentions };
    byRoom.set(room, { ...known(news), ...(direct && { direct }), ...counts });
  }
  const sectionOf = (room: string): RoomItem["section"] =>
    places.get(room)?.section ?? (isDirect(room) ? "direct" : own.has(room) ? "yours" : "discover");
  const newest = ({ section, lastActivity }: RoomItem): number => (section === "yours" ? 0 : (lastActivity ?? 0));
  const wanted = plain(filter.trim());
  return withTags([...byRoom.values()].map((item) => ({ ...item, section: sectionOf(item.room) })))
    .filter((item) => isWanted(item, wanted))
    .sort(
      (a, b) =>
        SECTIONS.indexOf(a.section) - SECTIONS.indexOf(b.section) ||
        (places.get(a.room)?.at ?? Infinity) - (places.get(b.room)?.at ?? Infinity) ||
        newest(b) - newest(a) ||
        (labelOf(a) < labelOf(b) ? -1 : 1),
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

/** The next of the reader's rooms above (-1) or below (1) the current one, all around. */
export function neighbour(items: readonly RoomItem[], current: string, step: 1 | -1): string | undefined {
  const own = items.filter(({ section }) => section !== "discover");
  const at = own.findIndex(({ room }) => room === current);
  return own.at((at + step) % own.length)?.room;
}
