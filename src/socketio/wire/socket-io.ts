// The Socket.IO 5 codec on top of socket.io-parser: Engine.IO frames to typed packets and back.
// A packet that breaks the protocol is a value (SIO-7); only a programmer's mistake (a packet that no client
// could read) throws. Source: https://socket.io/docs/v4/socket-io-protocol/
import { Decoder, Encoder, PacketType, type Packet } from "socket.io-parser";

import { encodeMessage, type Frame } from "./engine-io.ts";

/** Binary attachments in one packet, both ways: newer clients drop the connection beyond it (CVE-2026-33151). SIO-8. */
export const ATTACHMENTS_MAX = 10;

/** Names that mean something of their own to clients and servers: no event may bear one (SIO-7). */
const RESERVED_EVENTS: ReadonlySet<string> = new Set([
  "connect",
  "connect_error",
  "disconnect",
  "disconnecting",
  "newListener",
  "removeListener",
]);

/** Whether it is a name that no client may send, and no server sends. */
export function isReservedEvent(event: string): boolean {
  return RESERVED_EVENTS.has(event);
}

/** @throws RangeError for a name that Socket.IO reserves */
export function checkEventName(event: string): void {
  if (isReservedEvent(event)) throw new RangeError(`"${event}" is a reserved event name`);
}

/** A packet that a client may send. */
export type ClientPacket =
  | { readonly type: "connect"; readonly nsp: string; readonly auth: Readonly<Record<string, unknown>> }
  | { readonly type: "disconnect"; readonly nsp: string }
  | {
      readonly type: "event";
      readonly nsp: string;
      readonly event: string;
      readonly args: readonly unknown[];
      /** Present when the sender waits for an ack; 0 is an id like any other (SIO-6). */
      readonly id?: number;
    }
  | { readonly type: "ack"; readonly nsp: string; readonly id: number; readonly args: readonly unknown[] };

export type ReadResult =
  | { readonly kind: "packet"; readonly packet: ClientPacket }
  /** A binary packet of which attachments are still due. */
  | { readonly kind: "partial"; readonly partial: PartialPacket }
  | { readonly kind: "error"; readonly reason: string };

/** A binary packet on its way: the header, then as many attachments as have come. Plain data, so it survives sleep. */
export interface PartialPacket {
  readonly frames: readonly Frame[];
}

/**
 * Reads the next Engine.IO message of a session.
 * @param partial the packet that the previous call left incomplete, if any
 */
export function readMessage(data: Frame, partial?: PartialPacket): ReadResult {
  const frames = partial ? [...partial.frames, data] : [data];
  const decoder = new Decoder({ maxAttachments: ATTACHMENTS_MAX });
  let decoded: Packet | undefined;
  decoder.on("decoded", (packet) => (decoded = packet));
  try {
    for (const frame of frames) decoder.add(frame);
  } catch (error) {
    return { kind: "error", reason: error instanceof Error ? error.message : "unreadable packet" };
  }
  return decoded ? toClientPacket(decoded) : { kind: "partial", partial: { frames } };
}

function toClientPacket(packet: Packet): ReadResult {
  const { nsp, id, data } = packet as { nsp: string; id?: number; data?: unknown };
  if (id !== undefined && !Number.isSafeInteger(id)) return unreadable("ack id out of range");
  switch (packet.type) {
    case PacketType.CONNECT:
      return read({ type: "connect", nsp, auth: (data ?? {}) as Record<string, unknown> });
    case PacketType.DISCONNECT:
      return read({ type: "disconnect", nsp });
    case PacketType.EVENT: {
      if (!Array.isArray(data)) return unreadable("event without a payload");
      const [event, ...args] = data as unknown[];
      if (typeof event !== "string") return unreadable("event name is not a string");
      return read({ type: "event", nsp, event, args, ...(id !== undefined && { id }) });
    }
    case PacketType.ACK:
      if (!Array.isArray(data) || id === undefined) return unreadable("ack without an id or a payload");
      return read({ type: "ack", nsp, id, args: data as unknown[] });
    default:
      return unreadable(`packet type ${packet.type} is the server's`);
  }
}

const read = (packet: ClientPacket): ReadResult => ({ kind: "packet", packet });
const unreadable = (reason: string): ReadResult => ({ kind: "error", reason });

const encoder = new Encoder();

/** The frames of one packet: the header, then its attachments. Encode once, send to many. */
function encode(packet: Packet): Frame[] {
  const parts = encoder.encode(packet) as Array<string | ArrayBufferLike | ArrayBufferView>;
  if (parts.length - 1 > ATTACHMENTS_MAX) {
    throw new RangeError(
      `a packet carries at most ${ATTACHMENTS_MAX} binary attachments, this one ${parts.length - 1}`,
    );
  }
  return parts.map((part) => encodeMessage(toFrame(part)));
}

function toFrame(part: string | ArrayBufferLike | ArrayBufferView): Frame {
  if (typeof part === "string") return part;
  return ArrayBuffer.isView(part)
    ? new Uint8Array(part.buffer as ArrayBuffer, part.byteOffset, part.byteLength)
    : new Uint8Array(part as ArrayBuffer);
}

/**
 * Accepts a CONNECT. `sid` is the socket's own id, not the Engine.IO session's (SIO-2).
 * @param pid where the client may recover
 */
export function encodeConnect(nsp: string, sid: string, pid?: string): Frame[] {
  return encode({ type: PacketType.CONNECT, nsp, data: pid === undefined ? { sid } : { sid, pid } });
}

/** Refuses a CONNECT; `message` comes first on the wire (SIO-3). */
export function encodeConnectError(nsp: string, refusal: { message: string; data?: unknown }): Frame[] {
  const { message, data } = refusal;
  return encode({ type: PacketType.CONNECT_ERROR, nsp, data: data === undefined ? { message } : { message, data } });
}

/**
 * @param id asks for an ack under this id
 * @throws RangeError when the name is reserved, or when there are too many attachments
 */
export function encodeEvent(nsp: string, event: string, args: readonly unknown[], id?: number): Frame[] {
  checkEventName(event);
  return encode({ type: PacketType.EVENT, nsp, data: [event, ...args], ...(id !== undefined && { id }) });
}

export function encodeAck(nsp: string, id: number, args: readonly unknown[]): Frame[] {
  return encode({ type: PacketType.ACK, nsp, id, data: args });
}

export function encodeDisconnect(nsp: string): Frame[] {
  return encode({ type: PacketType.DISCONNECT, nsp });
}
