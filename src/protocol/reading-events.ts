// The vocabulary of reading: how far each user has read, and how many messages are left.
import type { Answer } from "./chat-events.ts";

export interface ReadPayload {
  /** The `seq` of the newest message that the user has seen. */
  readonly seq: number;
}

export interface ReadMark {
  readonly user: string;
  readonly seq: number;
}

export type ReadAnswer = Answer<object>;
/** The furthest first; clipped where there are many. */
export type ReadMarksAnswer = Answer<{ readonly marks: readonly ReadMark[] }>;

export interface ReadingClientEvents {
  read: (payload: ReadPayload, ack?: (answer: ReadAnswer) => void) => void;
  "read-marks": (payload: Record<string, never>, ack?: (answer: ReadMarksAnswer) => void) => void;
}

export interface ReadingServerEvents {
  read: (mark: ReadMark) => void;
}

/** What a newcomer is told of their own reading. */
export interface ReadingWelcome {
  /** How far the user has read, 0 where they never said. */
  readonly readSeq: number;
  /** Messages after that which the room still keeps, the user's own among them. */
  readonly unread: number;
}
