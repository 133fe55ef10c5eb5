// The codec of long-polling payloads: packets joined by the record separator, bytes as `b` and base64 (EIO-8). Called by the engine, and
// for rows of the recovery log.
import { PACKET_SEPARATOR, type Frame } from "./engine-io.ts";

// Part of all runtimes of this code (browsers, Node, workerd), but not of the language.
declare function btoa(binary: string): string;
declare function atob(text: string): string;

/** Bytes converted by one call, because a call takes a limited number of arguments. */
const CHUNK_BYTES = 8192;

export function encodePayload(frames: readonly Frame[]): string {
  return frames.map((frame) => (typeof frame === "string" ? frame : `b${encodeBase64(frame)}`)).join(PACKET_SEPARATOR);
}

/** @returns `undefined` when a binary packet is no base64; text packets are decoded by the next layer */
export function decodePayload(payload: string): Frame[] | undefined {
  const frames: Frame[] = [];
  for (const piece of payload.split(PACKET_SEPARATOR)) {
    const frame = piece.startsWith("b") ? decodeBase64(piece.slice(1)) : piece;
    if (frame === undefined) return undefined;
    frames.push(frame);
  }
  return frames;
}

function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES));
  }
  return btoa(binary);
}

/** @returns `undefined` for text that is no base64 */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
