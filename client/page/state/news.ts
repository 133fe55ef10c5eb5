// The rules of unread numbers and notifications: what the title and the icon count, and which messages the page notifies the reader of, each
// once. Pure; the chat store, the page's entry and notifier.ts call it.
import { numberText } from "./language.ts";

/** What is new for the reader in a room. */
export interface News {
  readonly room: string;
  readonly unread: number;
  /** Those of the unread messages that mention the reader, or are written to them alone. */
  readonly mentions: number;
  /** The newest of these. */
  readonly mentionSeq?: number;
}

export interface ListedNews extends News {
  readonly lastSeq: number;
}

export interface MutedRooms {
  /** Rooms of which the reader does not want to be told. */
  readonly muted: ReadonlySet<string>;
}

/** What counts of a room: in a muted one only what speaks to the reader. */
export const countIn = ({ room, unread, mentions }: News, { muted }: MutedRooms): number =>
  muted.has(room) ? mentions : unread;

export const countOf = (all: readonly News[], rules: MutedRooms): number =>
  all.reduce((sum, news) => sum + countIn(news, rules), 0);

/** @param max the highest number that has its own text */
export const countText = (count: number, max = 99): string => (count > max ? `${numberText(max)}+` : numberText(count));

/** @param title the room in words */
export const titleText = (title: string, count: number): string =>
  `${count > 0 ? `(${countText(count)}) ` : ""}${title} · Parley`;

/**
 * Finds in the lists of the reader's rooms, as they come, what speaks to the reader and is new since the list before. Of the first list nothing
 * is: it was there when they came.
 */
export class NewlySpoken {
  /** By room, the newest message of which the reader was told, or could have been. */
  #known: Map<string, number> | undefined;

  take(list: readonly ListedNews[]): News[] {
    const known = this.#known;
    const found = known ? list.filter(({ room, mentionSeq = 0 }) => mentionSeq > (known.get(room) ?? 0)) : [];
    this.#known ??= new Map();
    for (const { room, lastSeq } of list) this.#known.set(room, Math.max(lastSeq, this.#known.get(room) ?? 0));
    return found;
  }
}
