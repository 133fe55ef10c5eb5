// The people in the room: members, typists and read marks, kept up to date by the room's events. The room view owns it.
import type {
  Member,
  Message,
  PresenceChange,
  ReadMark,
  TypingChange,
  Typist,
  Welcome,
} from "../../../src/protocol/chat-events.ts";
import type { Room } from "../../core/api.ts";
import { named } from "./names.ts";
import type { People } from "./people.ts";
import { describeFailure, settled } from "./room-answers.ts";

interface PresencePorts {
  readonly room: Room;
  readonly people: People;
  readonly changed: () => void;
  /** Shows the reader why a request failed, although there is a connection. */
  readonly failed: (text: string) => void;
}

export class Presence {
  readonly roster = new Roster();
  readonly typists = new Typists();
  readonly readMarks = new ReadMarks();
  readonly #ports: PresencePorts;

  constructor(ports: PresencePorts) {
    this.#ports = ports;
    const { room, people, changed } = ports;
    room.on("presence", (change) => {
      for (const person of change.joined) people.note(person);
      if (!this.roster.change(change)) void this.refreshRoster();
      changed();
    });
    room.on("typing", (change) => {
      this.typists.change(change);
      changed();
    });
    room.on("read", (mark) => {
      this.readMarks.set(mark);
      changed();
    });
  }

  welcome({ presence, typing }: Welcome): void {
    this.roster.count = presence.count;
    this.typists.replace(typing ?? []);
    void this.refreshRoster();
    void this.#refreshReadMarks();
  }

  /** A backup was restored: the room may end before the messages that people have read. */
  restart(): void {
    this.readMarks.clear();
    void this.#refreshReadMarks();
  }

  /**
   * Finds members by a part of their name, also in a room too large to be listed. @returns `undefined` where the room gave no
   * answer
   */
  async find(find: string): Promise<Person[] | undefined> {
    const answer = await settled(this.#ports.room.ask("presence", { find }));
    if ("error" in answer) return undefined;
    this.#noteMembers(answer.members);
    this.#ports.changed();
    return sorted(answer.members);
  }

  /** Without a connection the page does not know who types. */
  lost(): void {
    this.typists.clear();
  }

  async refreshRoster(): Promise<void> {
    const { room, changed, failed } = this.#ports;
    const answer = await settled(room.presence());
    if ("error" in answer) {
      // After a lost connection the next welcome asks again, so the reader need not know.
      const isConnected = room.connection.state === "connected";
      return isConnected ? failed(`Members could not be loaded: ${describeFailure(answer.error)}`) : undefined;
    }
    this.#noteMembers(answer.members);
    this.roster.replace(answer.members, answer.count);
    changed();
  }

  #noteMembers(members: readonly Member[]): void {
    for (const member of members) this.#ports.people.note(member);
  }

  async #refreshReadMarks(): Promise<void> {
    const answer = await settled(this.#ports.room.ask("read-marks", {}));
    if ("error" in answer) return;
    for (const mark of answer.marks) this.readMarks.set(mark);
    this.#ports.changed();
  }
}

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

/** More names than that are a crowd. */
const NAMED_MAX = 3;

export class Typists {
  readonly #names = new Map<string, string>();

  replace(typists: readonly Typist[]): void {
    this.#names.clear();
    for (const { user, name } of typists) this.#names.set(user, name);
  }

  change({ user, name, on }: TypingChange): void {
    if (on) this.#names.set(user, name);
    else this.#names.delete(user);
  }

  clear(): void {
    this.#names.clear();
  }

  /** One line for the reader; empty while no member types. */
  get line(): string {
    const names = Array.from(this.#names.values(), named);
    if (names.length === 0) return "";
    if (names.length > NAMED_MAX) return "Several people are typing…";
    const last = names.pop()!;
    return names.length === 0 ? `${last} is typing…` : `${names.join(", ")} and ${last} are typing…`;
  }
}

export class ReadMarks {
  readonly #marks = new Map<string, number>();

  set({ user, seq }: ReadMark): void {
    this.#marks.set(user, Math.max(seq, this.#marks.get(user) ?? 0));
  }

  clear(): void {
    this.#marks.clear();
  }

  /** The users by the `seq` of the last shown message that they have read, without the reader and the message's author. */
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
