// The names of people in one room: members, and former members whose messages are loaded. room-parts.ts keeps it up to date.
import type { Message } from "../../src/protocol/chat-events.ts";

export class Names {
  readonly #names = new Map<string, string>();
  #state: ReadonlyMap<string, string> | undefined;

  get state(): ReadonlyMap<string, string> {
    return (this.#state ??= new Map(this.#names));
  }

  /** Records a person's current name. */
  note({ user, name }: { readonly user: string; readonly name: string }): void {
    if (this.#names.get(user) === name) return;
    this.#names.set(user, name);
    this.#state = undefined;
  }

  /** Notes the authors of older messages: a name that is known already is newer. */
  noteAuthors(messages: readonly Message[]): void {
    for (const { sender, name } of messages) if (!this.#names.has(sender)) this.note({ user: sender, name });
  }
}
