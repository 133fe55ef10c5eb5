// The part of a room's audience that other objects hold, as room.ts and features see it, which may not import shards/. Implemented by
// shards/shards.ts; a room without shards has none.
import type { Notice, Role } from "../../protocol/chat-events.ts";
import type { ShardAudience } from "../../protocol/shards.ts";

export interface RemoteMembers {
  readonly connections: number;
  /** The objects. */
  readonly shards: number;
  /** The users among them. One with connections in two objects counts twice. */
  readonly users: number;
  /** Those of them who type. */
  readonly typing: number;
  /** Sends what the room has just sent to its own connections. @param seqs places of messages in the log */
  emit(
    audience: ShardAudience,
    event: string,
    argLists: ReadonlyArray<readonly unknown[]>,
    seqs?: readonly number[],
  ): void;
  /** Disconnects a user for good. @param roles only connections whose tokens give one of these; absent: all */
  dismiss(user: string, notice: Notice, roles?: readonly Role[]): void;
}
