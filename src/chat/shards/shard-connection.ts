// A member's connection in a shard, as the room's features see it for the time of a request. What they keep on it is gone with that. Called
// by shards.ts.
import type { ShardItem, ShardRequest } from "../../protocol/shards.ts";
import type { Connection, Membership } from "../room/room.ts";

/** The facts of a request about its connection. */
export type ConnectionFacts = Pick<ShardRequest, "socket" | "address" | "member" | "exp">;

/** @param send sends an item to the shard of the connection */
export function shardConnection(
  { socket, address, member, exp }: ConnectionFacts,
  send: (item: ShardItem) => void,
): Connection {
  const data: Membership = { ...member };
  return {
    id: socket,
    handshake: { address, query: {}, issued: member.sinceMs },
    token: { user: member.user, ...(exp !== undefined && { exp }) },
    connected: true,
    data,
    peek: () => data,
    emit: (event, ...args) => {
      send({ type: "emit", audience: { channels: [socket] }, event, argLists: [args] });
      return true;
    },
    disconnect: () => send({ type: "dismiss", socket }),
  };
}
