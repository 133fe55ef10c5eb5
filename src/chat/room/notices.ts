// Notices before a room closes all its connections: for a restart, or because it is deleted. Sent by durable/chat-room.ts and room-shard.ts.
import type { Notice } from "../../protocol/chat-events.ts";
import { digestOf } from "../../protocol/digest.ts";

/** Sent to all before a room is deleted (API-9). */
export const ROOM_DELETED: Notice = { code: "ROOM_DELETED", message: "The room was deleted." };

/**
 * Sends each client back at a time of its own, spread evenly over the window, so that they do not all reconnect at once (API-10).
 * @param socketId unguessable, so its hash spreads as well as a random number
 * @param withinMs all clients are to be back within this time
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
  return new DataView(digestOf(text).buffer).getUint32(0) / 2 ** 32;
}
