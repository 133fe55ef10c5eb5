// The people who are with the reader in the room: members, those who type, how far each has read. Kept up to date with the room; the
// view owns it.
import type { ErrorAnswer, Member, PresenceChange, Welcome } from "../../../src/protocol/chat-events.ts";
import type { Room } from "../../core/api.ts";
import type { People } from "./people.ts";
import { ReadMarks } from "./read-marks.ts";
import { Roster, sorted, type Person } from "./roster.ts";
import { describeFailure, settled } from "./room-answers.ts";
import { Typists } from "./typists.ts";

interface CompanyPorts {
  readonly room: Room;
  readonly people: People;
  readonly changed: () => void;
  /** Something could not be had, although there is a connection. */
  readonly failed: (text: string) => void;
}

export class Presence {
  readonly roster = new Roster();
  readonly typists = new Typists();
  readonly readMarks = new ReadMarks();
  readonly #ports: CompanyPorts;

  constructor(ports: CompanyPorts) {
    this.#ports = ports;
    const { room, changed } = ports;
    room.on("presence", (change) => this.#onPresence(change));
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
    void this.#refreshRoster();
    void this.#refreshReadMarks();
  }

  /** What the room has may end before what people have read of it: a backup was restored. */
  restart(): void {
    this.readMarks.clear();
    void this.#refreshReadMarks();
  }

  /** Members by a part of their name, also of a room that is too large to be listed. @returns nothing where they cannot be had */
  async find(find: string): Promise<Person[] | undefined> {
    const answer = await settled(this.#ports.room.ask("presence", { find }));
    if ("error" in answer) return undefined;
    this.#noteMembers(answer.members);
    this.#ports.changed();
    return sorted(answer.members);
  }

  /** Roles have changed. */
  refresh(): void {
    void this.#refreshRoster();
  }

  /** The connection is gone, so nothing is known any more of those who type. */
  lost(): void {
    this.typists.clear();
  }

  #onPresence(change: PresenceChange): void {
    for (const person of change.joined) this.#ports.people.note(person);
    if (!this.roster.change(change)) void this.#refreshRoster();
    this.#ports.changed();
  }

  async #refreshRoster(): Promise<void> {
    const { room, changed } = this.#ports;
    const answer = await settled(room.presence());
    if ("error" in answer) return this.#failed(answer);
    this.#noteMembers(answer.members);
    this.roster.replace(answer.members, answer.count);
    changed();
  }

  #noteMembers(members: readonly Member[]): void {
    for (const member of members) this.#ports.people.note(member);
  }

  /** After a lost connection the next welcome asks again, so there is nothing to tell. */
  #failed({ error }: ErrorAnswer): void {
    const { room, failed } = this.#ports;
    if (room.connection.state === "connected") failed(`Members could not be loaded: ${describeFailure(error)}`);
  }

  async #refreshReadMarks(): Promise<void> {
    const answer = await settled(this.#ports.room.ask("read-marks", {}));
    if ("error" in answer) return;
    for (const mark of answer.marks) this.readMarks.set(mark);
    this.#ports.changed();
  }
}
