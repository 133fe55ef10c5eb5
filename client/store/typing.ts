// Keeps the members who type. The room ends each of them after 5 s without another key (TYP-2), so nothing expires
// here. A large room tells only how many type. room-parts.ts keeps it up to date.
import type { TypingChange, Typist } from "../../src/protocol/chat-events.ts";

export class Typing {
  state: readonly Typist[] = [];
  /** Others who type and are not named. */
  count = 0;

  replace(typists: readonly Typist[], count = 0): void {
    if (this.state.length + typists.length > 0) this.state = typists;
    this.count = count;
  }

  change({ user, name, on }: TypingChange): void {
    const others = this.state.filter((typist) => typist.user !== user);
    this.state = on ? [...others, { user, name }] : others;
  }
}
