// Makes a call of a stream to a shard by RPC, and hands out the session that comes with the answer (SHD-14). Called by the streams of rooms
// (create-chat.ts) and of shards (create-shard.ts).
import type { StreamCall } from "../protocol/shards.ts";
import type { ShardRpc } from "../rpc/shard.ts";
import type { SessionsPorts } from "../shards/sessions.ts";

/** @param holds asks for a session */
export async function callShard(shard: ShardRpc, call: StreamCall, holds: boolean): ReturnType<SessionsPorts["send"]> {
  const { session, ...answer } = await shard.takePieces(call, holds);
  if (!session) return answer;
  return {
    ...answer,
    session: { send: (further) => session.takePieces(further), end: () => session[Symbol.dispose]() },
  };
}
