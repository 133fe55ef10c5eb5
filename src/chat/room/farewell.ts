// What people are told when everybody has to go: for a while, or because the room is no more.
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";

import type { Notice } from "../../protocol/chat-events.ts";

/** Told to all before a room is deleted (API-9). */
export const ROOM_DELETED: Notice = { code: "ROOM_DELETED", message: "The room was deleted." };

/**
 * Everyone gets a moment of their own to come back at, spread evenly over the window, so that they do not come all
 * at once (API-10).
 * @param socketId what nobody can guess, so it says as well as a die when
 * @param withinMs all are to be back in so many milliseconds
 */
export function shutdownNotice(socketId: string, withinMs: number): Notice {
  return {
    code: "SERVER_SHUTDOWN",
    message: "The server restarts; connect again after retryAfterMs.",
    retryAfterMs: Math.floor(fractionOf(socketId) * withinMs),
  };
}

/** From 0 to below 1, the same for the same text. */
function fractionOf(text: string): number {
  const [a, b, c, d] = sha256(utf8ToBytes(text)) as unknown as [number, number, number, number];
  return (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) / 2 ** 32;
}
