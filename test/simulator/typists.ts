// Checks typing: a client that received the beginning also receives the end, and the last count.
import type { TypingChange, TypingCount, TypingWelcome } from "../../src/protocol/chat-events.ts";

interface Line {
  on(event: "welcome", hear: (welcome: TypingWelcome) => void): unknown;
  on(event: "typing", hear: (change: TypingChange) => void): unknown;
  on(event: "typing-count", hear: (typing: TypingCount) => void): unknown;
}

export class Typists {
  #users = new Set<string>();
  #count = 0;

  /** Those who type, as the client was told. */
  get told(): string[] {
    return this.#count > 0 ? [...this.#users, `${this.#count} without a name`] : [...this.#users];
  }

  /** The client did not look, and may have missed the ends. */
  forget(): void {
    this.#users.clear();
    this.#count = 0;
  }

  follow(line: Line): void {
    line.on("welcome", ({ typing, typingCount = 0 }) => {
      this.#users = new Set(typing.map(({ user }) => user));
      this.#count = typingCount;
    });
    line.on("typing", ({ user, on }) => void (on ? this.#users.add(user) : this.#users.delete(user)));
    line.on("typing-count", ({ count }) => void (this.#count = count));
  }
}
