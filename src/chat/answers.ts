// The answers of a room that say no: one shape, one closed list of codes (CHAT-3).
import type { AnswerCode, ErrorAnswer } from "../protocol/chat-events.ts";

export function refuse(code: AnswerCode, message: string, retryAfterMs?: number): ErrorAnswer {
  return { error: { code, message, ...(retryAfterMs !== undefined && { retryAfterMs }) } };
}
