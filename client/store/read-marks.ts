// Keeps how far the people in a room have read. room-parts.ts keeps the marks up to date; applications draw them beside messages.
import type { Message, ReadMark } from "../../src/protocol/chat-events.ts";

export class ReadMarks {
  readonly #marks = new Map<string, number>();
  #state: ReadonlyMap<string, number> | undefined;

  get state(): ReadonlyMap<string, number> {
    return (this.#state ??= new Map(this.#marks));
  }

  set({ user, seq }: ReadMark): void {
    if (seq <= (this.#marks.get(user) ?? -1)) return;
    this.#marks.set(user, seq);
    this.#state = undefined;
  }

  clear(): void {
    this.#marks.clear();
    this.#state = undefined;
  }
}

/**
 * The users by the `seq` of the last of these messages that they have read, without the message's author.
 * @param self is left out, too
 */
export function readersOf(
  marks: ReadonlyMap<string, number>,
  messages: readonly Message[],
  self: string,
): ReadonlyMap<number, readonly string[]> {
  const readers = new Map<number, string[]>();
  const first = messages[0]?.seq ?? Infinity;
  for (const [user, seq] of marks) {
    if (user === self || seq < first) continue;
    const message = lastUpTo(messages, seq);
    if (message && message.sender !== user) readers.set(message.seq, [...(readers.get(message.seq) ?? []), user]);
  }
  return readers;
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
