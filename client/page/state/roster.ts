// Who is in the room: a snapshot from the presence answer, kept up by the presence events.
// Pure state: the visit feeds it, the member list draws it.
import type { Member, PresenceChange } from "../../../src/protocol/chat-events.ts";

export type Person = Pick<Member, "user" | "name">;

export class Roster {
  /** As the room counts; it may be more than it has listed. */
  count = 0;
  #people = new Map<string, string>();
  #complete = false;

  /** Sorted by name. */
  get people(): Person[] {
    return Array.from(this.#people, ([user, name]) => ({ user, name })).sort((a, b) => a.name.localeCompare(b.name));
  }

  replace(members: readonly Person[], count: number): void {
    this.#people = new Map(members.map(({ user, name }) => [user, name]));
    this.count = count;
    this.#complete = members.length === count;
  }

  /** Returns whether the list still agrees with the count; if not, a new snapshot is due. */
  change({ count, joined, left }: PresenceChange): boolean {
    for (const { user } of left) this.#people.delete(user);
    for (const { user, name } of joined) this.#people.set(user, name);
    this.count = count;
    if (this.#complete) return this.#people.size === count;
    // A room too large to be listed in full tells no names, and asking again would not help; one that tells them is.
    return joined.length + left.length === 0;
  }
}
