// The members of the room, kept up to date by its events, and asked for where those do not suffice. room-parts.ts owns it.
import type { Member, PresenceChange } from "../../src/protocol/chat-events.ts";
import type { Room, SendFailure } from "../core/api.ts";
import { settled } from "./answers.ts";
import type { Outcome } from "./api.ts";
import type { Names } from "./names.ts";
import type { Person, PresenceState } from "./state.ts";

interface PresencePorts {
  readonly room: Room;
  readonly names: Names;
  readonly changed: () => void;
  /** The members could not be loaded, although there is a connection. */
  readonly failed: (error: SendFailure) => void;
}

export class Presence {
  readonly roster = new Roster();
  readonly #ports: PresencePorts;

  constructor(ports: PresencePorts) {
    this.#ports = ports;
    const { room, names, changed } = ports;
    room.on("presence", (change) => {
      for (const person of change.joined) names.note(person);
      if (!this.roster.change(change)) void this.refresh();
      changed();
    });
  }

  welcome(count: number): void {
    this.roster.count = count;
    void this.refresh();
  }

  async find(find: string): Promise<Outcome<{ readonly members: readonly Person[] }>> {
    const answer = await settled(this.#ports.room.ask("presence", { find }));
    if ("error" in answer) return answer;
    this.#note(answer.members);
    return { ok: true, members: sorted(answer.members) };
  }

  async refresh(): Promise<void> {
    const { room, failed } = this.#ports;
    const answer = await settled(room.presence());
    if ("error" in answer) {
      // After a lost connection the next welcome asks again, so the user need not know.
      return room.connection.state === "connected" ? failed(answer.error) : undefined;
    }
    this.roster.replace(answer.members, answer.count);
    this.#note(answer.members);
  }

  #note(members: readonly Member[]): void {
    for (const member of members) this.#ports.names.note(member);
    this.#ports.changed();
  }
}

/** As people count: 2 comes before 10. */
const byName = new Intl.Collator(undefined, { numeric: true });

export class Roster {
  #count = 0;
  #people = new Map<string, Person>();
  #isListed = false;
  #state: PresenceState | undefined;

  get state(): PresenceState {
    return (this.#state ??= {
      count: this.#count,
      members: sorted(this.#people.values()),
      isComplete: this.#count > 0 && this.#people.size >= this.#count,
    });
  }

  set count(count: number) {
    this.#count = count;
    this.#state = undefined;
  }

  replace(members: readonly Person[], count: number): void {
    this.#people = new Map(members.map((member) => [member.user, member]));
    this.count = count;
    this.#isListed = members.length === count;
  }

  /** @returns whether the list still agrees with the count; if not, a new snapshot is due */
  change({ count, joined, left }: PresenceChange): boolean {
    for (const { user } of left) this.#people.delete(user);
    for (const member of joined) this.#people.set(member.user, member);
    this.count = count;
    if (this.#isListed) return this.#people.size === count;
    // A room too large to be listed in full tells no names, and asking again would not help; one that tells them is.
    return joined.length + left.length === 0;
  }
}

const sorted = (people: Iterable<Person>): Person[] =>
  Array.from(people).sort((a, b) => byName.compare(a.name, b.name));
