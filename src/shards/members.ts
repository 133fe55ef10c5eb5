// A member's connection in a shard, and the channels by which the room finds it. Used by shard-members.ts, replica.ts and member-events.ts.
import type { Role, ServerToClientEvents } from "../protocol/chat-events.ts";
import { isStaff } from "../protocol/roles.ts";
import { STAFF_CHANNEL, userChannel, type ShardMember } from "../protocol/shards.ts";
import type { Socket } from "../socketio/server/socket.ts";

export type Client = Socket<ServerToClientEvents, ShardMember>;

/** @param role that counts in the room */
export function joinChannels(client: Client, role: Role): void {
  client.join(userChannel(client.peek().user));
  setStaff(client, role);
}

/** Counts a member among the moderators, or not. @param role that counts in the room */
export function setStaff(client: Client, role: Role): void {
  if (isStaff(role)) client.join(STAFF_CHANNEL);
  else client.leave(STAFF_CHANNEL);
}
