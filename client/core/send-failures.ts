// The failures of messages that the client itself decides; the room's refusals have texts of their own. Room and outbox use them.
import type { SendFailure } from "./api.ts";

export const QUEUE_FULL: SendFailure = { code: "QUEUE_FULL", message: "Too many messages wait for a connection." };
export const EXPIRED: SendFailure = { code: "EXPIRED", message: "The message waited too long." };
export const UNANSWERED: SendFailure = { code: "NO_ANSWER", message: "The room does not answer." };
export const UNCERTAIN: SendFailure = {
  code: "UNCERTAIN",
  message:
    "The message was sent long ago without an answer, and history does not reach back to tell whether it arrived.",
};
export const OTHER_USER: SendFailure = {
  code: "OTHER_USER",
  message: "The message was written under another name in this browser.",
};
export const ELSEWHERE: SendFailure = { code: "ELSEWHERE", message: "Another tab or user has this message." };
export const DISCARDED: SendFailure = { code: "DISCARDED", message: "The message was discarded." };
export const CLOSED: SendFailure = { code: "CLOSED", message: "The room was closed." };
