// The members of the room: a snapshot from the presence answer, kept up by the presence events.
// Pure state: the view feeds it, the member list draws it.
import type { Member, PresenceChange } from "../../../src/protocol/chat-events.ts";

export type Person = Pick<Member, "user" | "name" | "role" | "granted">;

/** As people count: 2 comes before 10. */
const byName = new Intl.Collator(undefined, { numeric: true });

export class Roster {
  /** As the room counts; it may be more than it has listed. */
  count = 0;
  #people = new Map<string, Person>();
  #complete = false;

  /** Sorted by name. */
  get people(): Person[] {
    return sorted(this.#people.values());
  }

  replace(members: readonly Person[], count: number): void {
    this.#people = new Map(members.map((member) => [member.user, member]));
    this.count = count;
    this.#complete = members.length === count;
  }

  /** Whether the list has all members of the room. */
  get isComplete(): boolean {
    return this.#people.size >= this.count;
  }

  /** Returns whether the list still agrees with the count; if not, a new snapshot is due. */
  change({ count, joined, left }: PresenceChange): boolean {
    for (const { user } of left) this.#people.delete(user);
    for (const member of joined) this.#people.set(member.user, member);
    this.count = count;
    if (this.#complete) return this.#people.size === count;
    // A room too large to be listed in full tells no names, and asking again would not help; one that tells them is.
    return joined.length + left.length === 0;
  }
}

export const sorted = (people: Iterable<Person>): Person[] =>
  Array.from(people).sort((a, b) => byName.compare(a.name, b.name));
