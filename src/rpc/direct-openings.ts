// The conversations that users of this isolate begin (DM-5), counted together whether a room begins them by event or the Worker
// by a call. Used by durable/create-chat.ts and worker/api/calls/direct.ts.
import { TokenBuckets } from "../clock/token-bucket.ts";
import { DIRECT_OPENINGS } from "../protocol/direct-room.ts";

export const directOpenings = new TokenBuckets(DIRECT_OPENINGS);
