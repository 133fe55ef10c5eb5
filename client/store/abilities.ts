// Computes the actions that a user may take in the room, and on one message. The room decides again when an action is used. The store
// calls it. Pure.
import type { Message, Role, RoomModes } from "../../src/protocol/chat-events.ts";
import { isStaff, type Rank, RANKS, rankOfToken } from "../../src/protocol/roles.ts";
import type { Connection } from "../core/api.ts";
import type { Abilities, Blocked, Me, Person } from "./state.ts";

/** The facts that count besides the message and the user. */
interface Circumstances {
  /** Whether the user ranks above the author: `mayModerate`. */
  readonly outranks: boolean;
  /** The time in which authors may edit their messages; 0 for none. */
  readonly editWindowMs: number;
  readonly nowMs: number;
}

export function abilitiesOf(
  message: Message,
  { user, role, blocked }: Pick<Me, "user" | "role" | "blocked">,
  { outranks, editWindowMs, nowMs }: Circumstances,
): Abilities {
  const isOwn = message.sender === user;
  const isThere = message.deleted !== true;
  const isIn = blocked === undefined || STAYS.includes(blocked);
  const canWrite = blocked === undefined && isThere;
  // A service may change any message: it could post in its author's name.
  const mayChange = isOwn || outranks || role === "service";
  const isInTime = !isOwn || isStaff(role) || nowMs - message.timestamp < editWindowMs;
  return {
    reply: canWrite,
    react: canWrite,
    edit: canWrite && mayChange && isInTime,
    remove: isThere && isIn && role !== "reader" && mayChange,
    moderate: isIn && outranks,
  };
}

/** @param granted the room made a moderator of the user */
const rankOf = ({ role = "member", granted }: Partial<Person>): Rank =>
  role === "moderator" && granted ? RANKS.granted : rankOfToken(role);

/** Whether a user ranks above another one, as far as the list of members tells: of absent people only the room knows the rank. */
export function mayModerate(
  { user, role }: Pick<Me, "user" | "role">,
  other: string,
  members: readonly Person[],
): boolean {
  if (!isStaff(role) || other === user) return false;
  const listed = (id: string): Partial<Person> => members.find((member) => member.user === id) ?? {};
  const { granted } = listed(user);
  return rankOf({ role, ...(granted && { granted }) }) > rankOf(listed(other));
}

/** Ends of a connection that people decided: a waiting message must not go out days later. */
const DECIDED: readonly string[] = ["KICKED", "BANNED", "FORBIDDEN_ROOM", "ROOM_DELETED"] satisfies Blocked[];

/** Reasons not to write that leave the user in the room: its own messages can be deleted then. */
const STAYS: readonly string[] = ["READER", "ROOM_READ_ONLY"] satisfies Blocked[];

/** Why nothing can be written in the room at all. */
export function blockedBy(connection: Connection, role: Role, { readOnly }: RoomModes): Blocked | undefined {
  if (connection.state === "stopped" && DECIDED.includes(connection.code)) return connection.code as Blocked;
  if (role === "reader") return "READER";
  return readOnly && !isStaff(role) ? "ROOM_READ_ONLY" : undefined;
}
