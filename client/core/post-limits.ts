// Whether a message is too long for the room, as far as the client knows. A server ends the connection over a packet beyond its
// `maxPayload`, so such a one is never sent: it would be sent again on every connection, and end them all.
import type { ErrorAnswer, PostPayload } from "../../src/protocol/chat-events.ts";
import { frameBytes } from "../../src/socketio/wire/engine-io.ts";

export interface PostLimits {
  /** Bytes of an Engine.IO packet, from the handshake. */
  readonly maxPayload: number | undefined;
  /** Characters (Unicode code points), from `welcome`. */
  readonly maxContentLength: number | undefined;
}

/** The bytes before the event in an Engine.IO packet: a digit for each of its two types, and the number of its ack. */
const ENVELOPE_BYTES_MAX = 2 + String(Number.MAX_SAFE_INTEGER).length;

/** @returns the error that the room would answer, if the message is too long for it */
export function tooLong(payload: PostPayload, limits: PostLimits): ErrorAnswer | undefined {
  const { maxPayload = Infinity, maxContentLength = Infinity } = limits;
  const content = payload.content.trim();
  if (content.length > maxContentLength && Array.from(content).length > maxContentLength)
    return refuse(`content: at most ${maxContentLength} characters`);
  const bytes = frameBytes(JSON.stringify(["chat-message", payload])) + ENVELOPE_BYTES_MAX;
  return bytes > maxPayload ? refuse(`The message takes ${bytes} bytes, and the room ${maxPayload}.`) : undefined;
}

function refuse(message: string): ErrorAnswer {
  return { error: { code: "TOO_LONG", message } };
}
