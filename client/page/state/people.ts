// The names of people in one room: members, and former members whose messages are shown. Names appear in messages and in mentions.
// The room view keeps it up to date. Pure state.
import type { Message } from "../../../src/protocol/chat-events.ts";
import { isGuest } from "./reader-identity.ts";
import { withIds, withNames } from "./mentions.ts";
import { bare } from "./names.ts";
import type { Person } from "./presence.ts";

/** Characters of a guest's id in the tag that tells guests of the same name apart. */
const TAG_LENGTH = 4;
/** Characters that a mention cannot contain. */
const UNSAFE = /[`<>\n]/;

export class People {
  readonly #names = new Map<string, string>();
  /** The number of people by name. */
  readonly #sharing = new Map<string, number>();

  /** Records a person's current name. */
  note({ user, name }: Person): void {
    const before = this.#names.get(user);
    if (before === name) return;
    if (before !== undefined) this.#sharing.set(before, this.#sharing.get(before)! - 1);
    this.#names.set(user, name);
    this.#sharing.set(name, (this.#sharing.get(name) ?? 0) + 1);
  }

  /** Notes the authors of older messages: a name that is known already is newer. */
  noteAuthors(messages: readonly Message[]): void {
    for (const { sender, name } of messages) if (!this.#names.has(sender)) this.note({ user: sender, name });
  }

  /** The id of an unknown person; a generic word for a guest, whose id is random. */
  nameOf(user: string): string {
    return this.#names.get(user) ?? (isGuest(user) ? `Guest ${shortOf(user)}` : user);
  }

  /** The tag that distinguishes people of the same name; empty for a unique name. */
  tagOf(user: string): string {
    const name = this.#names.get(user);
    if (name === undefined || this.#sharing.get(name)! < 2) return "";
    return idTagOf(user);
  }

  /** All people who are known in this room. */
  get all(): Person[] {
    return Array.from(this.#names, ([user, name]) => ({ user, name }));
  }

  /** The text after `@` for a person while a message is written; `undefined` where only the id is unambiguous. */
  labelOf(user: string): string | undefined {
    const name = this.#names.get(user);
    if (name === undefined) return undefined;
    const plain = bare(name).trim();
    const isId = plain !== user && this.#names.has(plain);
    const label = plain + (isId ? idTagOf(user) : this.tagOf(user));
    return label === "" || UNSAFE.test(label) ? undefined : label;
  }

  /** Converts the text of the composer, which has names, to that of the room, which has ids. */
  withIds(text: string): string {
    const labels = new Map<string, string>();
    for (const user of this.#names.keys()) {
      const label = this.labelOf(user);
      if (label !== undefined) labels.set(label, user);
    }
    return withIds(text, labels);
  }

  /** Converts the room's text to that of the composer. */
  withNames(content: string): string {
    return withNames(content, (user) => this.labelOf(user));
  }
}

const idTagOf = (user: string): string => `#${isGuest(user) ? shortOf(user) : user}`;
const shortOf = (user: string): string => user.slice(-TAG_LENGTH);
