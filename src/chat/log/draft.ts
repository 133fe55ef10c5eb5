// A message that passed every rule and has no place in the log yet. Made by posting and relayed.ts.
import type { Message, Role } from "../../protocol/chat-events.ts";

export interface Draft extends Pick<
  Message,
  "sender" | "name" | "content" | "clientMsgId" | "replyTo" | "attachment" | "origin"
> {
  /** What the author's token says; no part of the message that others see. */
  readonly role?: Role;
}
