// The answers of a room that say no: one shape, one closed list of codes (CHAT-3).
import type { RefusalCode } from "../../protocol/chat-events.ts";
import type { Refusal } from "../../socketio/server/namespace.ts";

export { refuse } from "../../protocol/refuse.ts";

/** @param more further facts beside the code in the CONNECT_ERROR's `data` */
export function deny(code: RefusalCode, message: string, more: object = {}): Refusal {
  return { accepted: false, message, data: { code, ...more } };
}
