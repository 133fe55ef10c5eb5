// LIM-7: the limits on the connections of one object, a room or one of its shards. Called by chat/chat.ts and shards/shard-members.ts.
import { deny, type Denial } from "./refuse.ts";

export interface ConnectionLimits {
  readonly maxMembers: number;
  /** 0: there is no limit. */
  readonly maxConnectionsPerUser: number;
}

/**
 * Refuses one more connection of a user.
 * @param there the connections that the object has, and those of the user among them
 * @param name the object as the refusal names it
 */
export function denyOverLimit(
  there: { readonly all: number; readonly ofUser: number },
  { maxMembers, maxConnectionsPerUser }: ConnectionLimits,
  name: string,
): Denial | undefined {
  if (there.all >= maxMembers) return deny("ROOM_FULL", `${name} is full`);
  if (there.ofUser < (maxConnectionsPerUser || Infinity)) return undefined;
  return deny("TOO_MANY_CONNECTIONS", `At most ${maxConnectionsPerUser} connections of one user to one room`);
}
