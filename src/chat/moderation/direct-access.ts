// Keeps a room between two people to its two users (DM-2). Made by parts.ts; its hooks run for each connection and before each request, and
// src/features/direct-messages opens the room by it.
import type { ErrorAnswer, Role } from "../../protocol/chat-events.ts";
import { isDirectRoom } from "../../protocol/direct-name.ts";
import type { DirectUsers } from "../../protocol/direct-room.ts";
import { deny, refuse } from "../../protocol/refuse.ts";
import type { Refusal } from "../../socketio/server/namespace.ts";
import type { Caller, EventRules } from "../room/operation.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Membership, Room } from "../room/room.ts";

const DIRECT_KEY = "direct";

/** A part of every room, so that conversations stay closed to others in a deployment that leaves out direct messages. */
export class DirectAccess implements RoomPart {
  readonly #state: Room["state"];
  readonly isDirect: boolean;
  #users: DirectUsers | undefined;

  constructor({ name, state }: Pick<Room, "name" | "state">) {
    this.#state = state;
    this.isDirect = isDirectRoom(name);
    if (this.isDirect) this.#users = state.get(DIRECT_KEY) as DirectUsers | undefined;
  }

  /** `undefined` in other rooms, and until the room is open: then nobody may enter. */
  get users(): DirectUsers | undefined {
    return this.#users;
  }

  /** Opens the room to its two users, once. @throws errors of the storage */
  open(users: DirectUsers): void {
    if (this.#users) return;
    this.#state.put(DIRECT_KEY, users);
    this.#users = users;
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
}
