// Several Engine.IO packets in one WebSocket frame (EXT-2), for the transport of an extended session.
import { frameBytes } from "../../src/socketio/wire/engine-io.ts";

/** U+001E. JSON escapes it, so it cannot occur inside a packet. */
const SEPARATOR = "\x1e";

/** A packet that engine.io-client hands to a transport, as far as joining needs it. */
export interface OutgoingPacket {
  readonly type: string;
  readonly data?: unknown;
}

export function splitFrame(frame: string): string[] {
  return frame.split(SEPARATOR);
}

/**
 * Joins neighbouring messages of text, within `maxBytes` per frame. Everything else stays a packet of its own in its place:
 * bytes, and the rare packets of an upgrade. A joined packet looks like one message, whose digit the transport adds.
 */
export function joinMessages<Packet extends OutgoingPacket>(packets: readonly Packet[], maxBytes: number): Packet[] {
  const joined: Packet[] = [];
  let openBytes = Infinity;
  for (const packet of packets) {
    const { data } = packet;
    if (packet.type !== "message" || typeof data !== "string") {
      joined.push(packet);
      openBytes = Infinity;
      continue;
    }
    // One for the digit, one for the separator.
    const packetBytes = frameBytes(data) + 2;
    const open = joined.at(-1);
    if (open && openBytes + packetBytes <= maxBytes) {
      joined[joined.length - 1] = { ...open, data: `${String(open.data)}${SEPARATOR}4${data}` };
      openBytes += packetBytes;
    } else {
      joined.push(packet);
      openBytes = packetBytes - 1;
    }
  }
  return joined;
}
