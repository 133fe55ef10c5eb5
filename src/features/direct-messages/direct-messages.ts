// Opens rooms between two people from any room (DM-1, DM-5), and says in such a room who the other one is (DM-6). Who may enter one is the
// room's own rule (src/chat/moderation/access.ts). Called by index.ts.
import type { ChatBase } from "../../chat/parts.ts";
import { Slot, type RoomPart } from "../../chat/room/room-part.ts";
import { payerOf } from "../../chat/room/guests.ts";
import { waitingHandler, type Caller, type Reply } from "../../chat/room/operation.ts";
import type { Connection, Membership, Room } from "../../chat/room/room.ts";
import type { TokenBuckets } from "../../clock/rates.ts";
import type { DirectWelcome, OpenDirectAnswer } from "../../protocol/chat-events.ts";
import { directRoomOf, mayOpenDirect, type DirectReport, type DirectUsers } from "../../protocol/direct-room.ts";
import { OPEN_DM, TOO_MANY_OPENINGS } from "../../protocol/events/direct.ts";
import type { Identity } from "../../protocol/identity.ts";
import { refuse } from "../../protocol/refuse.ts";

/** The names of the two users of a direct room, as far as they are known. */
export type DirectNames = readonly [string | undefined, string | undefined];

export interface DirectPorts {
  /** Stores the users of a direct room in that room. */
  readonly open: (room: string, users: DirectUsers, names: DirectNames) => Promise<OpenDirectAnswer>;
  /** Limits the direct rooms that a user opens, in all rooms of the isolate (DM-5). */
  readonly openings: TokenBuckets;
}

/** Their names as they were when the room was opened, where these are known. */
const NAMES_KEY = "direct-names";

/** Set where the token of the connection opens no direct rooms. */
const IS_BOUND = new Slot<true>("isBound");

export class DirectMessages implements RoomPart {
  readonly #room: Room;
  readonly #chat: Pick<ChatBase, "direct" | "readSeq" | "writtenName" | "reportChanged">;
  readonly #ports: DirectPorts;
  #openedNames: DirectNames | undefined;
  readonly operations = [waitingHandler(OPEN_DM, (caller, { user }, reply) => this.#openFor(caller, user, reply))];

  constructor(room: Room, chat: ChatBase, ports: DirectPorts) {
    this.#room = room;
    this.#chat = chat;
    this.#ports = ports;
    if (chat.direct.isDirect) this.#openedNames = room.state.get(NAMES_KEY) as DirectNames | undefined;
  }

  /** DM-6. */
  welcome(client: Connection): DirectWelcome {
    const { users } = this.#chat.direct;
    const own = users?.indexOf(client.peek().user) ?? -1;
    if (own < 0) return {};
    const user = users![1 - own]!;
    return { direct: { user, name: this.#nameOf(user) } };
  }

  /** The newest name by which this room knows one of its users, or else the id. */
  #nameOf(user: string): string {
    const { direct, writtenName } = this.#chat;
    const opened = this.#openedNames?.[direct.users!.indexOf(user)];
    return this.#room.members.nameOf(user) ?? writtenName(user) ?? opened ?? user;
  }

  onToken(membership: Membership, { rooms }: Identity): void {
    IS_BOUND.put(membership, mayOpenDirect(rooms) ? undefined : true);
  }

  directReport(): DirectReport | undefined {
    const { direct, readSeq } = this.#chat;
    if (!direct.users) return undefined;
    const [a, b] = direct.users;
    return { users: direct.users, read: [readSeq(a), readSeq(b)], names: [this.#nameOf(a), this.#nameOf(b)] };
  }

  /** Makes the room a direct room of two users. @throws errors of the storage */
  begin(users: DirectUsers, names: DirectNames = [undefined, undefined]): OpenDirectAnswer {
    const { name, state } = this.#room;
    const { direct, reportChanged } = this.#chat;
    if (directRoomOf(...users) !== name) return refuse("FORBIDDEN", "The room is that of two others");
    const isNew = !direct.users;
    if (isNew) {
      if (names[1] !== undefined && names[1] !== users[1]) state.put(NAMES_KEY, (this.#openedNames = names));
      direct.open(users);
      reportChanged();
    }
    return { ok: true, room: name, isNew };
  }

  async #openFor(
    { user: own, name, tokenRole, client }: Caller,
    user: string,
    reply: Reply<OpenDirectAnswer>,
  ): Promise<void> {
    const { open, openings } = this.#ports;
    const isBound = client !== undefined && IS_BOUND.get(client) === true;
    if (isBound || tokenRole === "reader")
      return reply(refuse("FORBIDDEN", "The token opens no rooms between two people."));
    if (own === user) return reply(refuse("INVALID_PAYLOAD", "user: is yourself"));
    const room = directRoomOf(own, user);
    const beginner = payerOf({ user: own, client });
    const taking = tokenRole === "service" ? undefined : openings.take(beginner, this.#room.now());
    if (taking?.ok === false) return reply(refuse("RATE_LIMITED", TOO_MANY_OPENINGS, taking.retryAfterMs));
    const names = [name, this.#room.members.nameOf(user) ?? this.#chat.writtenName(user)] as const;
    const opened = await open(room, [own, user], names).catch((error: unknown): OpenDirectAnswer => {
      this.#room.reportProblem("a room between two people could not be opened", error);
      return refuse("INTERNAL", "The room could not be opened; try again.");
    });
    if (taking && !("ok" in opened && opened.isNew)) openings.giveBack(beginner, this.#room.now());
    this.#room.turn(() => reply(opened));
  }
}
