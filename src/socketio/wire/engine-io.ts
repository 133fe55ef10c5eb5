// The codec of Engine.IO 4 packets, without state and I/O. It returns a value for a bad packet and does not throw. Used by server and client.
// Source: Engine.IO protocol v4, https://socket.io/docs/v4/engine-io-protocol/

/** The content of a WebSocket frame: text for text packets, bytes for a binary message. */
export type Frame = string | Uint8Array<ArrayBuffer>;

export type EnginePacket =
  | { readonly type: "open" | "close" | "ping" | "pong" | "upgrade" | "noop"; readonly data: string }
  | { readonly type: "message"; readonly data: Frame };

const TYPE_BY_DIGIT = ["open", "close", "ping", "pong", "message", "upgrade", "noop"] as const;

/** Heartbeats and the other packets without data, as they stand on the wire (EIO-2). */
export const ENGINE_CLOSE = "1";
export const ENGINE_PING = "2";
export const ENGINE_PONG = "3";
export const ENGINE_NOOP = "6";

/** The steps of an upgrade from long-polling: the client asks, the server confirms, the client takes over (EIO-9). */
export const ENGINE_PROBE = "2probe";
export const ENGINE_PROBED = "3probe";
export const ENGINE_UPGRADE = "5";

/** The protocol revision in `?EIO=`. */
export const ENGINE_REVISION = "4";

/** The handshake: exactly these five keys, all durations in ms, `maxPayload` in bytes (EIO-1). */
export interface EngineHandshake {
  readonly sid: string;
  readonly upgrades: readonly string[];
  readonly pingInterval: number;
  readonly pingTimeout: number;
  readonly maxPayload: number;
}

export function encodeOpen(handshake: EngineHandshake): string {
  const { sid, upgrades, pingInterval, pingTimeout, maxPayload } = handshake;
  return `0${JSON.stringify({ sid, upgrades, pingInterval, pingTimeout, maxPayload })}`;
}

/** Text gets the digit of a message; bytes are a frame without a digit (EIO-3). */
export function encodeMessage(data: Frame): Frame {
  return typeof data === "string" ? `4${data}` : data;
}

/** @returns `undefined` for a frame that is no Engine.IO packet: the caller closes the session (EIO-4). */
export function decodeFrame(frame: Frame): EnginePacket | undefined {
  if (typeof frame !== "string") return { type: "message", data: frame };
  const type = TYPE_BY_DIGIT[frame.charCodeAt(0) - 48];
  return type && { type, data: frame.slice(1) };
}

/** Stands between packets in one frame or payload. JSON escapes it, so it cannot occur inside a packet. */
export const PACKET_SEPARATOR = "\x1e";

/** Characters of a joined frame at most; a longer one is split between packets (EXT-2). */
export const JOINED_CHARS_MAX = 262_144;

/** Joins adjacent texts, in order, to as few frames as allowed; bytes stay frames of their own (EXT-2). Idempotent. */
export function joinPackets(frames: readonly Frame[]): Frame[] {
  const joined: Frame[] = [];
  for (const frame of frames) {
    const last = joined.at(-1);
    if (typeof frame === "string" && typeof last === "string" && last.length + frame.length < JOINED_CHARS_MAX) {
      joined[joined.length - 1] = last + PACKET_SEPARATOR + frame;
    } else joined.push(frame);
  }
  return joined;
}

/** The packets of a frame that may carry several. */
export function splitPackets(frame: Frame): readonly Frame[] {
  return typeof frame === "string" && frame.includes(PACKET_SEPARATOR) ? frame.split(PACKET_SEPARATOR) : [frame];
}

/** Refusals of Engine.IO requests, with the codes and messages of the protocol (EIO-5). */
export const ENGINE_REFUSALS = {
  unknownTransport: { code: 0, message: "Transport unknown" },
  unknownSid: { code: 1, message: "Session ID unknown" },
  badMethod: { code: 2, message: "Bad handshake method" },
  badRequest: { code: 3, message: "Bad request" },
  forbidden: { code: 4, message: "Forbidden" },
  unsupportedRevision: { code: 5, message: "Unsupported protocol version" },
} as const;

export type EngineRefusal = keyof typeof ENGINE_REFUSALS;

/** @returns the bytes of a frame on the wire; `maxPayload` means UTF-8 for text (EIO-6) */
export function frameBytes(frame: Frame): number {
  return typeof frame === "string" ? utf8Bytes(frame) : frame.byteLength;
}

/** Whether a frame has at most `maxBytes`. Counts them only if the length does not decide. */
export function frameFits(frame: Frame, maxBytes: number): boolean {
  if (typeof frame !== "string") return frame.byteLength <= maxBytes;
  // A UTF-16 unit takes one to three bytes in UTF-8.
  if (frame.length * 3 <= maxBytes) return true;
  return frame.length <= maxBytes && utf8Bytes(frame) <= maxBytes;
}

function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four bytes: each half adds one.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
