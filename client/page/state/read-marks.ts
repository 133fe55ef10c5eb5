// The read marks of all members, from the room's events. Pure state; the presence owns it.
import type { Message, ReadMark } from "../../../src/protocol/chat-events.ts";

export class ReadMarks {
  readonly #marks = new Map<string, number>();

  set({ user, seq }: ReadMark): void {
    this.#marks.set(user, Math.max(seq, this.#marks.get(user) ?? 0));
  }

  clear(): void {
    this.#marks.clear();
  }

  /** By seq of the last message that they have read, of those shown: who they are, the reader and its author left out. */
  readersOf(messages: readonly Message[], self: string): ReadonlyMap<number, readonly string[]> {
    const readers = new Map<number, string[]>();
    const first = messages[0]?.seq ?? Infinity;
    for (const [user, seq] of this.#marks) {
      if (user === self || seq < first) continue;
      const message = lastUpTo(messages, seq);
      if (message && message.sender !== user) readers.set(message.seq, [...(readers.get(message.seq) ?? []), user]);
    }
    return readers;
  }
}

function lastUpTo(messages: readonly Message[], seq: number): Message | undefined {
  let from = 0;
  let to = messages.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (messages[middle]!.seq <= seq) from = middle + 1;
    else to = middle;
  }
  return messages[from - 1];
}
