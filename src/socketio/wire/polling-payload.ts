// The codec of long-polling payloads: packets joined by the record separator, bytes as `b` and base64 (EIO-8). Called by the engine, and
// for rows of the recovery log.
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { PACKET_SEPARATOR, type Frame } from "./engine-io.ts";

export function encodePayload(frames: readonly Frame[]): string {
  return frames.map((frame) => (typeof frame === "string" ? frame : `b${encodeBase64(frame)}`)).join(PACKET_SEPARATOR);
}

/** @returns `undefined` when a binary packet is no base64; text packets are decoded by the next layer */
export function decodePayload(payload: string): Frame[] | undefined {
  const frames: Frame[] = [];
  for (const packet of payload.split(PACKET_SEPARATOR)) {
    const frame = packet.startsWith("b") ? decodeBase64(packet.slice(1)) : packet;
    if (frame === undefined) return undefined;
    frames.push(frame);
  }
  return frames;
}
