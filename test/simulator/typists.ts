// Checks typing: a client that received the beginning also receives the end.
import type { TypingChange, TypingWelcome } from "../../src/protocol/chat-events.ts";

interface Line {
  on(event: "welcome", hear: (welcome: TypingWelcome) => void): unknown;
  on(event: "typing", hear: (change: TypingChange) => void): unknown;
}

export class Typists {
  #users = new Set<string>();

  get users(): string[] {
    return [...this.#users];
  }

  follow(line: Line): void {
    line.on("welcome", ({ typing }) => (this.#users = new Set(typing.map(({ user }) => user))));
    line.on("typing", ({ user, on }) => void (on ? this.#users.add(user) : this.#users.delete(user)));
  }
}
