// Puts failures into words for the reader. The state classes and components call it.
import type { SendFailure } from "parley-rooms/client";

import { phrase, t } from "./language.ts";
import { duration } from "./times.ts";

const WORDS: Readonly<Record<string, string>> = {
  MUTED: phrase("You are muted here"),
  SLOW_MODE: phrase("Slow mode is on"),
  RATE_LIMITED: phrase("That was a bit fast"),
  ROOM_READ_ONLY: phrase("Only moderators may write here now"),
  QUEUE_FULL: phrase("Too many messages wait for a connection"),
  NO_ANSWER: phrase("The room does not answer"),
  KICKED: phrase("You were kicked"),
  BANNED: phrase("You are banned"),
  FORBIDDEN_ROOM: phrase("Your token does not open this room"),
  UNSUPPORTED_MEDIA_TYPE: phrase("This kind of file is not allowed here"),
  NO_FILES: phrase("Files cannot be attached here"),
  UNREADABLE: phrase("It cannot be read: it was moved, changed or deleted, or is a folder"),
  OTHER_USER: phrase("You wrote this under another name in this browser"),
};

/** A sentence that came with a code, if the catalogue has it (said.ts); a moderator's own words stay as they are. */
export const sentenceOf = (message: string): string =>
  message.replace(/^(.+?)(: |\.$)/su, (_, said: string, end: string) => t(said) + (end === "." ? t(end) : end));

/** The room would refuse the same text or file again. */
const FINAL: ReadonlySet<string> = new Set([
  "REJECTED",
  "INVALID_PAYLOAD",
  "TOO_LONG",
  "NOT_FOUND",
  "UNSUPPORTED_MEDIA_TYPE",
  "NO_FILES",
]);

/** Whether it may help to send a message or a file again as it is. */
export const mayRetry = ({ code }: SendFailure): boolean => !FINAL.has(code);

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A longer wait has another reason than haste, which the server's own sentence says. */
const HASTE_MS_MAX = 60_000;

/** One sentence, with the time left where the room sent it. */
export function describeFailure({ code, message, retryAfterMs }: SendFailure): string {
  const isQuota = code === "RATE_LIMITED" && (retryAfterMs ?? 0) > HASTE_MS_MAX;
  const words = Object.hasOwn(WORDS, code) && !isQuota ? t(WORDS[code]!) : sentenceOf(message);
  const sentence = /[.!?。]$/.test(words) ? words : `${words}${t(".")}`;
  if (retryAfterMs === undefined) return sentence;
  return `${sentence} ${t("Try again in {time}.", { time: duration(retryAfterMs) })}`;
}
