// What clients ask for rooms between two people. Rules: DM-1.
import type { Answer } from "./chat-events.ts";

export type OpenDirectAnswer = Answer<{ readonly room: string; readonly isNew: boolean }>;

export interface DirectClientEvents {
  /** Between oneself and that user; `room` is to be connected to like any other. */
  "open-dm": (payload: { readonly user: string }, ack?: (answer: OpenDirectAnswer) => void) => void;
}
