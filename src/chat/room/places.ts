// Refuses a socket where the room, or its user, has too many (LIM-7). Called by chat.ts.
import type { Refusal } from "../../socketio/server/namespace.ts";
import { deny } from "./answers.ts";
import type { ChatSettings } from "./room.ts";

/** Numbers of sockets. */
interface Taken {
  readonly inRoom: number;
  readonly ofUser: number;
}

export function refusePlace(
  room: string,
  { inRoom, ofUser }: Taken,
  { maxMembers, maxConnectionsPerUser }: Pick<ChatSettings, "maxMembers" | "maxConnectionsPerUser">,
): Refusal | undefined {
  if (inRoom >= maxMembers) return deny("ROOM_FULL", `Room ${room} is full`);
  if (maxConnectionsPerUser === 0 || ofUser < maxConnectionsPerUser) return undefined;
  return deny("TOO_MANY_CONNECTIONS", `At most ${maxConnectionsPerUser} connections of one user to one room`);
}
