// Computes the actions that a user may take in the room, and on one message. The room decides again when an action is used. The store
// calls it. Pure.
import type { Message, Role, RoomModes } from "../../src/protocol/chat-events.ts";
import type { Connection } from "../core/api.ts";
import type { Abilities, Blocked, Me } from "./state.ts";

/** @param editWindowMs the time in which authors may edit their messages; 0 for none */
export function abilitiesOf(
  message: Message,
  { user, isModerator, blocked }: Pick<Me, "user" | "isModerator" | "blocked">,
  editWindowMs: number,
  nowMs: number,
): Abilities {
  const isOwn = message.sender === user;
  const canWrite = blocked === undefined && message.deleted !== true;
  return {
    reply: canWrite,
    react: canWrite,
    edit: canWrite && (isModerator || (isOwn && nowMs - message.timestamp < editWindowMs)),
    remove: message.deleted !== true && (isModerator || isOwn),
    moderate: isModerator && !isOwn,
  };
}

export const isModerator = (role: Role): boolean => role === "moderator" || role === "service";

/** Ends of a connection that people decided: a waiting message must not go out days later. */
const DECIDED: readonly string[] = ["KICKED", "BANNED", "FORBIDDEN_ROOM", "ROOM_DELETED"] satisfies Blocked[];

/** Why nothing can be written in the room at all. */
export function blockedBy(connection: Connection, role: Role, { readOnly }: RoomModes): Blocked | undefined {
  if (connection.state === "stopped" && DECIDED.includes(connection.code)) return connection.code as Blocked;
  if (role === "reader") return "READER";
  return readOnly && !isModerator(role) ? "ROOM_READ_ONLY" : undefined;
}
