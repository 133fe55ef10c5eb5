// Shows the people of one room by name: tags for people of the same name, and mentions, which are names in the field and ids in the
// room. The room view owns it.
import { labelledIn, relabelled, withIds, type Labelled, type Person } from "parley-rooms/client";

import { phrase, t } from "./language.ts";
import { isGuest } from "./reader-identity.ts";
import { bare, visible } from "./names.ts";

const ROLES: Readonly<Record<string, string>> = {
  member: phrase("member"),
  reader: phrase("reader"),
  moderator: phrase("moderator"),
  service: phrase("service"),
};

/** The role of a person in words. */
export const roleText = (role: string): string => t(ROLES[role] ?? role);

/** Characters of a guest's id in the tag that tells guests of the same name apart. */
const TAG_LENGTH = 4;
/** Characters that a mention cannot contain. */
const UNSAFE = /[`<>\n]/;

export class People {
  readonly #known: () => ReadonlyMap<string, string>;
  /** The number of people by the visible part of their name, counted once for the same people. */
  #counted: { readonly known: ReadonlyMap<string, string>; readonly byName: ReadonlyMap<string, number> } | undefined;

  /** @param known names by user, as they are now */
  constructor(known: () => ReadonlyMap<string, string>) {
    this.#known = known;
  }

  /** The id of an unknown person; a generic word for a guest, whose id is random. */
  nameOf(user: string): string {
    return bare(this.#known().get(user) ?? (isGuest(user) ? t("Guest {id}", { id: shortOf(user) }) : user));
  }

  /** The tag that distinguishes people whose names look the same; empty for a unique name. */
  tagOf(user: string): string {
    const name = this.#known().get(user);
    if (name === undefined || this.#sharing(name) < 2) return "";
    return idTagOf(user);
  }

  #sharing(name: string): number {
    const known = this.#known();
    if (this.#counted?.known !== known) {
      const byName = new Map<string, number>();
      for (const each of known.values()) byName.set(visible(each), (byName.get(visible(each)) ?? 0) + 1);
      this.#counted = { known, byName };
    }
    return this.#counted.byName.get(visible(name))!;
  }

  /** All people who are known in this room. */
  get all(): Person[] {
    return Array.from(this.#known(), ([user, name]) => ({ user, name }));
  }

  /** The text after `@` for a person while a message is written; `undefined` where only the id is unambiguous. */
  labelOf(user: string): string | undefined {
    const name = this.#known().get(user);
    if (name === undefined) return undefined;
    const plain = bare(name).trim();
    const isId = plain !== user && this.#known().has(plain);
    const label = plain + (isId ? idTagOf(user) : this.tagOf(user));
    return label === "" || UNSAFE.test(label) ? undefined : label;
  }

  /** Converts the text of the composer, which has names, to that of the room, which has ids. */
  withIds(text: string): string {
    const labels = new Map<string, string>();
    for (const user of this.#known().keys()) {
      const label = this.labelOf(user);
      if (label !== undefined) labels.set(label, user);
    }
    return withIds(text, labels);
  }

  /** The mentions in the room's text of people whose labels are known. */
  labelledIn(content: string): Labelled[] {
    return labelledIn(content, (user) => this.labelOf(user));
  }

  /** Converts the room's text to that of the composer. */
  withNames(content: string): string {
    return relabelled(content, this.labelledIn(content));
  }
}

/** The reader, and those who wrote the messages: they may mention each other. */
export function peopleIn(
  messages: ReadonlyArray<{ readonly sender: string; readonly name: string }>,
  reader: { readonly user: string; readonly name: string },
): People {
  const names = [[reader.user, reader.name], ...messages.map(({ sender, name }) => [sender, name])] as const;
  const known = new Map(names as ReadonlyArray<readonly [string, string]>);
  return new People(() => known);
}

/** What tells a person apart from others of the same name. */
export const idTagOf = (user: string): string => `#${isGuest(user) ? shortOf(user) : user}`;
const shortOf = (user: string): string => user.slice(-TAG_LENGTH);
