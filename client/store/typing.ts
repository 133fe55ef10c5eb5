// Keeps the members who type. The room ends each of them after 5 s without another key (TYP-2), so nothing expires
// here. room-parts.ts keeps it up to date.
import type { TypingChange, Typist } from "../../src/protocol/chat-events.ts";

export class Typing {
  state: readonly Typist[] = [];

  replace(typists: readonly Typist[]): void {
    this.state = typists;
  }

  change({ user, name, on }: TypingChange): void {
    const others = this.state.filter((typist) => typist.user !== user);
    this.state = on ? [...others, { user, name }] : others;
  }
}
