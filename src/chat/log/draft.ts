// A message that passed every rule and has no place in the log yet. Made by posting and relayed.ts.
import type { Message, Role } from "../../protocol/chat-events.ts";

export interface Draft extends Pick<
  Message,
  "sender" | "name" | "content" | "clientMsgId" | "replyTo" | "attachment" | "origin"
> {
  /** The author's role by token; not part of the message that others see. */
  readonly role?: Role;
}
