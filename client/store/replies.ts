// Counts replies by thread in a part of the history. threads.ts calls it. Pure.
import type { Message } from "../../src/protocol/chat-events.ts";
import { THREAD_PEOPLE_MAX } from "../../src/protocol/limits.ts";
import { threadOf } from "../../src/protocol/message.ts";

/** The replies to one message. */
export interface Replies {
  readonly count: number;
  /** When the newest was posted, in the room's time. */
  readonly lastMs: number;
  /** The ids of those who replied last, three at most, the last one first. */
  readonly people: readonly string[];
  /** Whether the room may have more replies, after the loaded messages. */
  readonly isPartial: boolean;
}

/**
 * By the `id` of the first message of each thread.
 * @param isPartial whether there may be more replies than these messages have
 */
export function repliesIn(messages: readonly Message[], isPartial: boolean): ReadonlyMap<string, Replies> {
  const found = new Map<string, Replies>();
  for (const message of messages) {
    const id = message.deleted ? undefined : threadOf(message);
    if (id === undefined) continue;
    const { count = 0, people = [] } = found.get(id) ?? {};
    found.set(id, {
      count: count + 1,
      lastMs: message.timestamp,
      people: withPerson(people, message.sender),
      isPartial,
    });
  }
  return found;
}

/** The people of a thread after a reply: its sender stands first. */
export const withPerson = (people: readonly string[], sender: string): string[] =>
  [sender, ...people.filter((user) => user !== sender)].slice(0, THREAD_PEOPLE_MAX);
