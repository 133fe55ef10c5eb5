// The members who are typing now, from the room's events. Pure state; the presence owns it.
import type { TypingChange, Typist } from "../../../src/protocol/chat-events.ts";
import { named } from "./names.ts";

/** More names than that are a crowd. */
const NAMED_MAX = 3;

export class Typists {
  readonly #names = new Map<string, string>();

  replace(typists: readonly Typist[]): void {
    this.#names.clear();
    for (const { user, name } of typists) this.#names.set(user, name);
  }

  change({ user, name, on }: TypingChange): void {
    if (on) this.#names.set(user, name);
    else this.#names.delete(user);
  }

  clear(): void {
    this.#names.clear();
  }

  /** One line for the reader; empty while no member types. */
  get line(): string {
    const names = Array.from(this.#names.values(), named);
    if (names.length === 0) return "";
    if (names.length > NAMED_MAX) return "Several people are typing…";
    const last = names.pop()!;
    return names.length === 0 ? `${last} is typing…` : `${names.join(", ")} and ${last} are typing…`;
  }
}
