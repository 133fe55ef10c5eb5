// The vocabulary of typing: who is writing something just now.
import type { Answer } from "./chat-events.ts";

export interface TypingPayload {
  /** Said again every few seconds while it stays true. */
  readonly on: boolean;
}

export type TypingAnswer = Answer<object>;

export interface Typist {
  readonly user: string;
  readonly name: string;
}

export interface TypingChange extends Typist {
  readonly on: boolean;
}

export interface TypingClientEvents {
  typing: (payload: TypingPayload, ack?: (answer: TypingAnswer) => void) => void;
}

export interface TypingServerEvents {
  typing: (change: TypingChange) => void;
}

/** What a newcomer is told of typing. */
export interface TypingWelcome {
  /** Others who are typing; the first few of them where there are many. */
  readonly typing: readonly Typist[];
}
