// Makes the answer of a room that says no: one shape, one closed list of codes (CHAT-3). Called by the rooms' features, those of one's
// own among them.
import type { AnswerCode, ErrorAnswer } from "./chat-events.ts";

/** @param retryAfterMs when a retry may help, in milliseconds from now */
export function refuse(code: AnswerCode, message: string, retryAfterMs?: number): ErrorAnswer {
  return { error: { code, message, ...(retryAfterMs !== undefined && { retryAfterMs }) } };
}
