// The names of people in one room: of those who are here, and of those who have left and whose messages are read. The view feeds
// it; all that show a name ask it. Pure state.
import type { Message } from "../../../src/protocol/chat-events.ts";
import { isGuest } from "./identity.ts";
import { bare } from "./names.ts";
import type { Person } from "./roster.ts";

/** Characters of a guest's id that tell them from another guest of the same name. */
const TAG_LENGTH = 4;
/** What cannot stand in a message as a part of a mention. */
const UNSAFE = /[`<>\n]/;

export class People {
  readonly #names = new Map<string, string>();
  /** How many go by a name. */
  readonly #sharing = new Map<string, number>();

  /** Records a person's current name. */
  note({ user, name }: Person): void {
    const before = this.#names.get(user);
    if (before === name) return;
    if (before !== undefined) this.#sharing.set(before, this.#sharing.get(before)! - 1);
    this.#names.set(user, name);
    this.#sharing.set(name, (this.#sharing.get(name) ?? 0) + 1);
  }

  /** What was said some time ago: a name that is known already is newer. */
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
    return markOf(user);
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
    const label = plain + (isId ? markOf(user) : this.tagOf(user));
    return label === "" || UNSAFE.test(label) ? undefined : label;
  }

  /** Users by those labels. */
  get labels(): ReadonlyMap<string, string> {
    const labels = new Map<string, string>();
    for (const user of this.#names.keys()) {
      const label = this.labelOf(user);
      if (label !== undefined) labels.set(label, user);
    }
    return labels;
  }
}

const markOf = (user: string): string => `#${isGuest(user) ? shortOf(user) : user}`;
const shortOf = (user: string): string => user.slice(-TAG_LENGTH);
