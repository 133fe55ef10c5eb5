// The call by which direct messages open a room between two people. Used by the Worker and by rooms.
import type { OpenDirectAnswer } from "../protocol/chat-events.ts";
import type { DirectUsers } from "../protocol/direct-room.ts";

export interface DirectRpc {
  /** Makes the room a direct room of these two users, whose name it has. @param names theirs, as far as they are known */
  openDirect(users: DirectUsers, names?: readonly [string | undefined, string | undefined]): Promise<OpenDirectAnswer>;
}
