// Asks a room for an event of the chat, for a caller without a connection, and waits for the answer. Called by durable/chat-room.ts, and by
// features' calls through durable/room-class.ts.
import type { Reply } from "../chat/room/operation.ts";
import type { Answer } from "../protocol/chat-events.ts";
import type { OutsideCaller } from "../rpc/room.ts";
import type { ChatParts } from "./create-chat.ts";
import type { Internals } from "../socketio/object/internals.ts";

/** Runs as a further turn of a call. */
export const askRoom = (
  internals: Internals<ChatParts>,
  event: string,
  bearer: OutsideCaller,
  given: unknown,
): Promise<Answer<object>> =>
  answerOf((reply) =>
    internals.furtherTurn(() => internals.parts.chat.requests.perform({ event, bearer, given, reply })),
  );

/** @param ask makes the request, whose answer may come later */
export function answerOf<Given>(ask: (reply: Reply<Given>) => void | Promise<void>): Promise<Given> {
  return new Promise((resolve, reject) => {
    ask(resolve)?.catch(reject);
  });
}
