// The codec of Socket.IO 5 packets, on top of socket.io-parser. It returns a value for a packet that breaks the protocol (SIO-7), and throws
// only for a packet of the application that no client could read. Called by server/ and recovery/.
// Source: https://socket.io/docs/v4/socket-io-protocol/
import { Decoder, Encoder, PacketType, type Packet } from "socket.io-parser";

import { encodeMessage, type Frame } from "./engine-io.ts";

/** SIO-8: binary attachments in one packet, in both directions. Newer clients drop a connection with more (CVE-2026-33151). */
export const ATTACHMENTS_MAX = 10;

/** Event names with a meaning of their own in clients and servers (SIO-7). */
const RESERVED_EVENTS: ReadonlySet<string> = new Set([
  "connect",
  "connect_error",
  "disconnect",
  "disconnecting",
  "newListener",
  "removeListener",
]);

/** Whether neither clients nor servers may send an event with this name. */
export function isReservedEvent(event: string): boolean {
  return RESERVED_EVENTS.has(event);
}

/** @throws RangeError for a name that Socket.IO reserves; TypeError for an ack callback, which would be sent as `null` */
export function checkEvent(event: string, args: readonly unknown[]): void {
  if (isReservedEvent(event)) throw new RangeError(`"${event}" is a reserved event name`);
  if (typeof args.at(-1) === "function") throw new TypeError(`"${event}": use emitWithAck for an ack`);
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
      /** Present when the sender waits for an ack; 0 is an id (SIO-6). */
      readonly id?: number;
    }
  | { readonly type: "ack"; readonly nsp: string; readonly id: number; readonly args: readonly unknown[] };

export type ReadResult =
  | { readonly kind: "packet"; readonly packet: ClientPacket }
  /** A binary packet without all of its attachments. */
  | { readonly kind: "partial"; readonly partial: PartialPacket }
  | { readonly kind: "error"; readonly reason: string };

/** A half-received binary packet: the header, then the attachments so far. Plain data, so it survives sleep. */
export interface PartialPacket {
  readonly frames: readonly Frame[];
}

/**
 * Reads the next Engine.IO message of a session.
 * @param partial the incomplete packet of the previous call, if any
 * @param view makes what stands in the packet of the bytes of an attachment
 */
export function readMessage(
  data: Frame,
  partial?: PartialPacket,
  view: (bytes: Uint8Array) => Uint8Array = (bytes) => bytes,
): ReadResult {
  const frames = partial ? [...partial.frames, data] : [data];
  let packet: Packet | undefined;
  try {
    for (const frame of frames) decoder.add(typeof frame === "string" ? frame : view(frame));
    packet = decoded;
  } catch (error) {
    return { kind: "error", reason: error instanceof Error ? error.message : "unreadable packet" };
  } finally {
    // The next packet may be of another session: nothing of this one stays.
    decoder.destroy();
    decoded = undefined;
  }
  return packet ? toClientPacket(packet) : { kind: "partial", partial: { frames } };
}

/** One for all packets: to make one and to watch it takes as long as to decode a short packet. */
const decoder = new Decoder({ maxAttachments: ATTACHMENTS_MAX });
let decoded: Packet | undefined;
decoder.on("decoded", (packet) => (decoded = packet));

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

/** In the JSON of a packet: no text in it holds this, because quotes in a text are escaped. */
const PLACEHOLDERS = /\{"_placeholder":true,"num":(\d+)\}/g;

/** @returns the frames of one packet: the header, then its attachments */
function encode(packet: Packet): Frame[] {
  const [header, ...bytes] = encoder.encode(packet) as [string, ...Bytes[]];
  return bytes.length === 0 ? [encodeMessage(header)] : encodeBinary(packet, header, bytes);
}

/**
 * Clients take every object with `_placeholder: true` for the place of an attachment. The application may pass on such an object of a client,
 * which would end the connection of each recipient, or become bytes there. The protocol has no escape: they get it with `_placeholder: false`.
 */
function encodeBinary(packet: Packet, header: string, bytes: readonly Bytes[]): Frame[] {
  if (header.split('"_placeholder":true').length - 1 > bytes.length)
    return encode({ ...packet, data: withoutPlaceholders(packet.data) as unknown[] });
  // A client may name an attachment in several places: once is enough.
  const attachments = [...new Set(bytes)];
  if (attachments.length > ATTACHMENTS_MAX)
    throw new RangeError(`a packet carries at most ${ATTACHMENTS_MAX} attachments, not ${attachments.length}`);
  const text =
    attachments.length === bytes.length
      ? header
      : header
          .replace(/(?<=^.)\d+/, String(attachments.length))
          .replace(PLACEHOLDERS, (_all, num) =>
            JSON.stringify({ _placeholder: true, num: attachments.indexOf(bytes[Number(num)]!) }),
          );
  return [text, ...attachments.map(toBytes)].map((part) => encodeMessage(part));
}

/** @param isPlain whether `toJSON` was called */
function withoutPlaceholders(value: unknown, isPlain = false): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value;
  if (Array.isArray(value)) return value.map((item) => withoutPlaceholders(item));
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === "function" && !isPlain) return withoutPlaceholders(toJSON.call(value), true);
  const fields = Object.entries(value).map(([name, given]) => {
    const field = withoutPlaceholders(given);
    return [name, name === "_placeholder" && field === true ? false : field];
  });
  return Object.fromEntries(fields);
}

type Bytes = ArrayBufferLike | ArrayBufferView;

/** The bytes of a buffer or a view, without a copy. */
export function toBytes(bytes: Bytes): Uint8Array<ArrayBuffer> {
  return ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes as ArrayBuffer);
}

/**
 * Accepts a CONNECT. `sid` is the id of the socket, not of the Engine.IO session (SIO-2).
 * @param pid if the client may recover the socket
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
 * @throws RangeError when there are too many attachments, and what `checkEvent` throws
 */
export function encodeEvent(nsp: string, event: string, args: readonly unknown[], id?: number): Frame[] {
  checkEvent(event, args);
  return encode({ type: PacketType.EVENT, nsp, data: [event, ...args], ...(id !== undefined && { id }) });
}

export function encodeAck(nsp: string, id: number, args: readonly unknown[]): Frame[] {
  return encode({ type: PacketType.ACK, nsp, id, data: args });
}

export function encodeDisconnect(nsp: string): Frame[] {
  return encode({ type: PacketType.DISCONNECT, nsp });
}
