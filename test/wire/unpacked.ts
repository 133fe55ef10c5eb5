// Unpacks the events of an event `bundle` (BUN-1), as docs/events.md shows it. The tests in which clients bundle call it, and the simulator, which
// reads the frames of the server.
import { readFileSync } from "node:fs";
import path from "node:path";

import { PacketType, type Packet } from "socket.io-parser";

import type { Frame } from "../../src/socketio/wire/engine-io.ts";

/** @returns the events in a packet that is a bundle, as packets of their own; any other packet by itself */
export function unpacked(packet: Packet): Packet[] {
  const data = packet.data as readonly unknown[];
  if (packet.type !== PacketType.EVENT || data[0] !== "bundle") return [packet];
  return (data[1] as unknown[][]).map((event) => ({ ...packet, data: event }));
}

/** @returns the packets of the events in a frame that is a bundle of the main namespace; any other frame by itself */
export function unpackedFrame(frame: Frame): Frame[] {
  if (typeof frame !== "string" || !frame.startsWith('42["bundle",')) return [frame];
  const [, events] = JSON.parse(frame.slice(2)) as [string, unknown[][]];
  return events.map((event) => `42${JSON.stringify(event)}`);
}

/** The lines of docs/events.md that unpack bundles. @param language as the page names it */
export function unpackingIn(language: string): string {
  const page = readFileSync(path.join(import.meta.dirname, "../../docs/events.md"), "utf8");
  return page.split(`\`\`\`${language}\n`)[1]!.split("```")[0]!;
}
