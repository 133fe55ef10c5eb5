// An event of a member as Socket.IO gives its arguments: the payload, and the callback for the answer. Called by chat/chat.ts and
// shards/member-events.ts.
import type { Answer, ErrorAnswer } from "./chat-events.ts";

export interface MemberEvent {
  /** Untrusted. */
  readonly given: unknown;
  readonly reply: (answer: Answer<object>) => void;
}

/** @param sendError sends the event `error`: without an ack callback only an error is worth sending */
export function memberEvent(args: readonly unknown[], sendError: (error: ErrorAnswer["error"]) => void): MemberEvent {
  const ack = args.at(-1);
  if (typeof ack !== "function") {
    const reply: MemberEvent["reply"] = (answer) => {
      if ("error" in answer) sendError(answer.error);
    };
    return { given: args[0], reply };
  }
  return { given: args.length === 1 ? undefined : args[0], reply: ack as MemberEvent["reply"] };
}
