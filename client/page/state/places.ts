// Finds rooms and people by a part of their name, for the dialog that leads to them: what is unread comes first until the reader types. Pure;
// switcher.tsx calls it.
import { plain } from "./names.ts";
import { labelOf, type DirectPerson, type RoomItem } from "./room-items.ts";

/** Places that are listed. */
const SHOWN_MAX = 12;

/** Where the reader may go: one of their rooms or another one, or a conversation with a person that they have not begun. */
export type Place =
  | { readonly kind: "room"; readonly item: RoomItem }
  | { readonly kind: "person"; readonly person: DirectPerson };

interface Known {
  readonly items: readonly RoomItem[];
  /** Rooms that the reader has entered in this browser, the last one last. */
  readonly entered: readonly string[];
  readonly current: string;
  readonly people: readonly DirectPerson[];
}

export function placesFor(typed: string, { items, entered, current, people }: Known): Place[] {
  const known = new Set(items.map(({ direct }) => direct?.user));
  const rooms = items.map((item): Place => ({ kind: "room", item }));
  const others = people.filter(({ user }) => !known.has(user)).map((person): Place => ({ kind: "person", person }));
  const wanted = plain(typed.trim().replace(/^[#@]/, ""));
  const found = wanted === "" ? rooms.filter((place) => !isAt(place, current)) : [...rooms, ...others];
  const rank = (place: Place): readonly number[] =>
    wanted === "" ? newsOf(place, entered) : [fitOf(wanted, place) ?? Infinity, ...newsOf(place, entered)];
  return found
    .map((place) => ({ place, rank: rank(place) }))
    .filter(({ rank }) => rank[0] !== Infinity)
    .sort((a, b) => byRank(a.rank, b.rank))
    .slice(0, SHOWN_MAX)
    .map(({ place }) => place);
}

const isAt = (place: Place, room: string): boolean => place.kind === "room" && place.item.room === room;

/** The lower the earlier: what speaks to the reader, what is unread, and then where they were last. */
function newsOf(place: Place, entered: readonly string[]): readonly number[] {
  if (place.kind === "person") return [0, 0, 2, 0];
  const { room, section, mentions, unread } = place.item;
  return [-Number(mentions > 0), -Number(unread > 0), Number(section === "discover"), -entered.indexOf(room)];
}

const byRank = (a: readonly number[], b: readonly number[]): number =>
  a.map((value, at) => value - b[at]!).find((difference) => difference !== 0) ?? 0;

/** How well its name or id fits. @returns the lower the better; `undefined` where it does not */
function fitOf(wanted: string, place: Place): number | undefined {
  const texts = place.kind === "person" ? [place.person.name] : [labelOf(place.item)];
  if (place.kind === "room" && !place.item.direct) texts.push(place.item.room);
  // As people write the name of a room, whose address has no spaces.
  const ways = new Set([wanted, wanted.replaceAll(/\s+/g, "-")]);
  const fits = texts
    .flatMap((text) => [...ways].map((way) => fit(way, plain(text))))
    .filter((one) => one !== undefined);
  return fits.length === 0 ? undefined : Math.min(...fits);
}

/** At the beginning, at that of a word, anywhere, or only its letters in their order. */
function fit(wanted: string, text: string): number | undefined {
  if (text.startsWith(wanted)) return 0;
  const at = text.indexOf(wanted);
  if (at > 0) return /[\p{L}\p{N}]/u.test(text[at - 1]!) ? 2 : 1;
  let from = 0;
  for (const letter of wanted) {
    from = text.indexOf(letter, from) + letter.length;
    if (from < letter.length) return undefined;
  }
  return 3;
}
