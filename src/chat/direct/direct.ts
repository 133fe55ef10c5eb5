// The feature of direct rooms: admits only the two users of such a room, neither as a moderator (DM-2). Opens direct rooms from any
// room (DM-1).
import { OPEN_DM, TOO_MANY_OPENINGS } from "../../protocol/events/direct.ts";
import { isDirectRoom } from "../../protocol/direct-name.ts";
import {
  DIRECT_OPENINGS,
  directRoomOf,
  mayOpenDirect,
  type DirectReport,
  type DirectUsers,
} from "../../protocol/direct-room.ts";
import type { Identity } from "../../protocol/identity.ts";
import type { DirectWelcome, ErrorAnswer, OpenDirectAnswer, Role } from "../../protocol/chat-events.ts";
import type { Refusal } from "../../socketio/server/namespace.ts";
import { deny, refuse } from "../../protocol/refuse.ts";
import { waitingHandler, type EventRules, type Caller, type Reply } from "../room/operation.ts";
import { TokenBuckets } from "../../clock/token-bucket.ts";
import { type Feature, Slot } from "../room/feature.ts";
import type { Connection, Membership, Room } from "../room/room.ts";
import { payerOf } from "../room/guests.ts";

/** The names of the two users of a direct room, as far as they are known. */
export type DirectNames = readonly [string | undefined, string | undefined];

/** Stores the users of a direct room in that room. */
export type OpenDirect = (room: string, users: DirectUsers, names: DirectNames) => Promise<OpenDirectAnswer>;

interface DirectOptions {
  readonly open: OpenDirect | undefined;
  readonly openings: TokenBuckets | undefined;
  readonly readSeq: (user: string) => number;
  /** The name under which a user has written in this room. */
  readonly writtenName: (user: string) => string | undefined;
}

const STATE_KEY = "direct";
/** Their names as they were when the room was opened, where these are known. */
const NAMES_KEY = "direct-names";

/** Set where the token of the connection opens no direct rooms. */
const IS_BOUND = new Slot<true>("isBound");

export class Direct implements Feature {
  readonly #room: Room;
  readonly #open: OpenDirect | undefined;
  readonly #openings: TokenBuckets;
  readonly #readSeq: (user: string) => number;
  readonly #writtenName: (user: string) => string | undefined;
  readonly isDirect: boolean;
  #users: DirectUsers | undefined;
  #openedNames: DirectNames | undefined;
  readonly operations = [waitingHandler(OPEN_DM, (caller, { user }, reply) => this.#openFor(caller, user, reply))];

  constructor(room: Room, { open, openings = new TokenBuckets(DIRECT_OPENINGS), readSeq, writtenName }: DirectOptions) {
    this.#room = room;
    this.#open = open;
    this.#openings = openings;
    this.#readSeq = readSeq;
    this.#writtenName = writtenName;
    this.isDirect = isDirectRoom(room.name);
    if (!this.isDirect) return;
    this.#users = room.state.get(STATE_KEY) as DirectUsers | undefined;
    this.#openedNames = room.state.get(NAMES_KEY) as DirectNames | undefined;
  }

  /** DM-6. */
  welcome(client: Connection): DirectWelcome {
    const own = this.#users?.indexOf(client.peek().user) ?? -1;
    if (own < 0) return {};
    const user = this.#users![1 - own]!;
    return { direct: { user, name: this.#nameOf(user) } };
  }

  /** The newest name by which this room knows one of its users, or else the id. */
  #nameOf(user: string): string {
    const { members } = this.#room;
    const opened = this.#openedNames?.[this.#users!.indexOf(user)];
    return members.nameOf(user) ?? this.#writtenName(user) ?? opened ?? user;
  }

  onToken(membership: Membership, { rooms }: Identity): void {
    IS_BOUND.put(membership, mayOpenDirect(rooms) ? undefined : true);
  }

  admit({ user }: Pick<Membership, "user">): Refusal | undefined {
    if (this.#isFor(user)) return undefined;
    return deny("FORBIDDEN_ROOM", "This room is between two people, of whom the token names none");
  }

  refuse(_event: EventRules, { user }: Pick<Caller, "user">): ErrorAnswer | undefined {
    return this.#isFor(user) ? undefined : refuse("FORBIDDEN", "This room is between two people");
  }

  #isFor(user: string): boolean {
    return !this.isDirect || this.#users?.includes(user) === true;
  }

  /** In a direct room neither user is a moderator. */
  roleOf(role: Role): Role {
    return this.isDirect && role !== "reader" ? "member" : role;
  }

  /** The part of the report to the lobby; absent in other rooms. */
  get report(): DirectReport | undefined {
    if (!this.#users) return undefined;
    const [a, b] = this.#users;
    return {
      users: this.#users,
      read: [this.#readSeq(a), this.#readSeq(b)],
      names: [this.#nameOf(a), this.#nameOf(b)],
    };
  }

  /** Makes the room a direct room of two users. @throws errors of the storage */
  begin(users: DirectUsers, names: DirectNames = [undefined, undefined]): OpenDirectAnswer {
    const { name, state } = this.#room;
    if (directRoomOf(...users) !== name) return refuse("FORBIDDEN", "The room is that of two others");
    const isNew = !this.#users;
    if (isNew) {
      state.put(STATE_KEY, users);
      if (names[1] !== undefined && names[1] !== users[1]) state.put(NAMES_KEY, (this.#openedNames = names));
    }
    this.#users ??= users;
    return { ok: true, room: name, isNew };
  }

  async #openFor(
    { user: own, name, tokenRole, client }: Caller,
    user: string,
    reply: Reply<OpenDirectAnswer>,
  ): Promise<void> {
    if (!this.#open) return reply(refuse("FORBIDDEN", "No rooms between two people are opened here."));
    const isBound = client !== undefined && IS_BOUND.get(client) === true;
    if (isBound || tokenRole === "reader")
      return reply(refuse("FORBIDDEN", "The token opens no rooms between two people."));
    if (own === user) return reply(refuse("INVALID_PAYLOAD", "user: is yourself"));
    const room = directRoomOf(own, user);
    const beginner = payerOf({ user: own, client });
    const taking = tokenRole === "service" ? undefined : this.#openings.take(beginner, this.#room.now());
    if (taking?.ok === false) return reply(refuse("RATE_LIMITED", TOO_MANY_OPENINGS, taking.retryAfterMs));
    const names = [name, this.#room.members.nameOf(user) ?? this.#writtenName(user)] as const;
    const opened = await this.#open(room, [own, user], names).catch((error: unknown): OpenDirectAnswer => {
      this.#room.reportProblem("a room between two people could not be opened", error);
      return refuse("INTERNAL", "The room could not be opened; try again.");
    });
    if (taking && !("ok" in opened && opened.isNew)) this.#openings.giveBack(beginner, this.#room.now());
    this.#room.turn(() => reply(opened));
  }
}
