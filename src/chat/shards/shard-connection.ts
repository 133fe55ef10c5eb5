// A member's connection in a shard, as the room's parts see it for the time of a request. What they keep on it is gone with that. Made
// by member-requests.ts.
import type { ShardItem, ShardRequest } from "../../protocol/shards.ts";
import type { Identity } from "../../protocol/identity.ts";
import type { Connection, Membership } from "../room/room.ts";

/** The facts of a request about its connection. */
export type ConnectionFacts = Pick<ShardRequest, "socket" | "address" | "member" | "exp">;

export interface ShardConnectionPorts {
  /** Sends an item to the shard of the connection. */
  readonly send: (item: ShardItem) => void;
  /** Has the parts note on the membership what they need of a token. */
  readonly noteToken: (membership: Membership, identity: Identity, address: string) => void;
}

export function shardConnection(
  { socket, address, member, exp }: ConnectionFacts,
  { send, noteToken }: ShardConnectionPorts,
): Connection {
  const { refreshed, ...data } = member;
  if (refreshed) noteToken(data, refreshed, address);
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
