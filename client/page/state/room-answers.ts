// Turns failed requests into error answers, and error answers into words for the reader. The state classes and components call it.
import type { ErrorAnswer } from "../../../src/protocol/chat-events.ts";
import type { Room } from "../../core/api.ts";
import { duration } from "./times.ts";

/** A lost connection or a timeout reads like an error answer, so that callers have one kind of failure. */
export async function settled<Answer extends object>(answer: Promise<Answer>): Promise<Answer | ErrorAnswer> {
  try {
    return await answer;
  } catch (error) {
    return { error: { code: "INTERNAL", message: `No answer from the room (${messageOf(error)}).` } };
  }
}

/** Whether requests would wait: there is no connection, and no attempt at one. */
export function isOut({ connection }: Pick<Room, "connection">): boolean {
  return connection.state === "waiting" || connection.state === "stopped";
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs?: number;
}

const WORDS: Readonly<Record<string, string>> = {
  MUTED: "You are muted here",
  SLOW_MODE: "Slow mode is on",
  RATE_LIMITED: "That was a bit fast",
  ROOM_READ_ONLY: "Only moderators may write here now",
  QUEUE_FULL: "Too many messages wait for a connection",
  NO_ANSWER: "The room does not answer",
  KICKED: "You were kicked",
  BANNED: "You are banned",
  FORBIDDEN_ROOM: "Your token does not open this room",
  UNSUPPORTED_MEDIA_TYPE: "This kind of file is not allowed here",
  OTHER_USER: "You wrote this under another name in this browser",
};

/** One sentence, with the time left where the room sent it. */
export function describeFailure({ code, message, retryAfterMs }: Failure): string {
  const words = Object.hasOwn(WORDS, code) ? WORDS[code]! : message;
  const sentence = /[.!?]$/.test(words) ? words : `${words}.`;
  return retryAfterMs === undefined ? sentence : `${sentence} Try again in ${duration(retryAfterMs)}.`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
