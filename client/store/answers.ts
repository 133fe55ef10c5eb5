// Turns requests that the room did not answer into error answers, so that callers have one kind of failure. The parts of the store
// call it, and applications that ask a room themselves.
import type { ErrorAnswer } from "../../src/protocol/chat-events.ts";
import type { Room, SendFailure } from "../core/api.ts";

export const NO_CONNECTION = {
  error: { code: "NO_CONNECTION", message: "There is no connection to the room." },
} as const;

/** A lost connection or a timeout reads like an error answer. */
export async function settled<Answer extends object>(
  answer: Promise<Answer>,
): Promise<Exclude<Answer, ErrorAnswer> | { readonly error: SendFailure }> {
  try {
    return (await answer) as Exclude<Answer, ErrorAnswer>;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { error: { code: "NO_ANSWER", message: `No answer from the room (${reason}).` } };
  }
}

/** Like `settled`; fails at once where the request would wait for a connection, and might be sent long after. */
export async function settledNow<Answer extends object>(
  room: Pick<Room, "connection">,
  ask: () => Promise<Answer>,
): Promise<Exclude<Answer, ErrorAnswer> | { readonly error: SendFailure }> {
  return isOut(room) ? NO_CONNECTION : settled(ask());
}

/** Whether requests would wait: there is no connection, and no attempt at one. */
export function isOut({ connection }: Pick<Room, "connection">): boolean {
  return connection.state === "waiting" || connection.state === "stopped";
}
