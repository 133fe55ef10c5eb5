// Makes the answers of a room that say no: one shape, one closed list of codes (CHAT-3). Called by the parts of rooms and by
// shards.
import type { AnswerCode, ErrorAnswer, RefusalCode } from "./chat-events.ts";

/** @param retryAfterMs when a retry may help, in milliseconds from now */
export function refuse(code: AnswerCode, message: string, retryAfterMs?: number): ErrorAnswer {
  return { error: { code, message, ...(retryAfterMs !== undefined && { retryAfterMs }) } };
}

/** CHAT-6. */
export const refuseTooMany = (retryAfterMs: number): ErrorAnswer =>
  refuse("RATE_LIMITED", "Rate limit exceeded: too many requests.", retryAfterMs);

/** How long a client waits with a request for which a busy room has no space. */
const BUSY_MS = 1000;

/** SHD-7: refuses a request of a member in a shard. */
export const refuseBusy = (): ErrorAnswer => refuse("RATE_LIMITED", "The room is busy; try again.", BUSY_MS);

/** The refusal of a CONNECT. */
export interface Denial {
  readonly accepted: false;
  readonly message: string;
  readonly data: { readonly code: RefusalCode; readonly retryAfterMs?: number };
}

/** @param more further facts beside the code in the CONNECT_ERROR's `data` */
export function deny(code: RefusalCode, message: string, more: object = {}): Denial {
  return { accepted: false, message, data: { code, ...more } };
}

/** A CONNECT that could not be decided may be so soon: stock clients, whom the closing of their session tells, wait about as long. */
const UNDECIDED_MS = 1000;

/** SIO-13: the session is closed, and its client comes back. Stock clients never do after a CONNECT_ERROR. */
export const UNDECIDED: Denial & { readonly passesInMs: number } = {
  accepted: false,
  message: "The room could not decide on this connection",
  data: { code: "INTERNAL", retryAfterMs: UNDECIDED_MS },
  passesInMs: UNDECIDED_MS,
};
