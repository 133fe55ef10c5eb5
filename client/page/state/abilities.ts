// Computes the actions that the page offers for a message. The room decides again when one is used. Message rows,
// their keys and the composer call it.
import type { Message, Welcome } from "../../../src/protocol/chat-events.ts";

interface Reader {
  readonly self: string;
  readonly isModerator: boolean;
  /** Why nothing can be written; empty when it can. */
  readonly blocked: string;
  readonly welcome: Welcome | undefined;
  readonly clock: { now(): number };
}

export interface Abilities {
  readonly reply: boolean;
  readonly react: boolean;
  readonly edit: boolean;
  readonly remove: boolean;
  readonly moderate: boolean;
}

export function abilitiesOf(message: Message, { self, isModerator, blocked, welcome, clock }: Reader): Abilities {
  const isOwn = message.sender === self;
  const canWrite = blocked === "" && message.deleted !== true;
  const windowMs = (welcome?.settings.editWindowSeconds ?? 0) * 1000;
  return {
    reply: canWrite,
    react: canWrite,
    edit: canWrite && (isModerator || (isOwn && clock.now() - message.timestamp < windowMs)),
    remove: message.deleted !== true && (isModerator || isOwn),
    moderate: isModerator && !isOwn,
  };
}
