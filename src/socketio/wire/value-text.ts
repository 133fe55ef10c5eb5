// Values that events, answers and `welcome` may hold as text, for calls between the objects of a room: JSON, which cannot hold bytes, and a form
// that can. Called by chat/shards and shards, and by chat/own, which checks that a value can be sent.
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { ATTACHMENTS_MAX, toBytes } from "./socket-io.ts";

/**
 * Begins the text of a value with bytes, as no JSON does. The JSON after it has bytes as base64 behind the mark of bytes, and each text behind that
 * of texts: so no text of a client is ever read as bytes.
 */
const HAS_BYTES = "b";
const BYTES = "b";
const TEXT = "t";

type Bytes = ArrayBuffer | ArrayBufferView;

/**
 * As `JSON.stringify`, but bytes (SIO-8: an `ArrayBuffer`, or any view of one) stay bytes.
 * @throws TypeError, RangeError for a value that JSON cannot hold, as of cycles; RangeError for more bytes than a packet carries
 */
export function encodeValue(value: unknown): string | undefined {
  if (!holdsBytes(value)) return JSON.stringify(value);
  let count = 0;
  const marked = JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key, plain: unknown) {
    // A Buffer has a `toJSON`, which was called.
    const given = [this[key], plain].find(isBytes);
    if (!given) return isText(plain) ? `${TEXT}${String(plain)}` : plain;
    if (++count > ATTACHMENTS_MAX) throw new RangeError(`a value holds bytes at most ${ATTACHMENTS_MAX} times`);
    return BYTES + encodeBase64(toBytes(given));
  });
  return HAS_BYTES + marked;
}

/** Whether `encodeValue` made a text of a value with bytes: it is no JSON then. */
export const hasBytes = (text: string): boolean => text.startsWith(HAS_BYTES);

/** @returns the value of a text that `encodeValue` made, in which all bytes are a `Uint8Array`. @throws RangeError for one too deep for the stack */
export function decodeValue(text: string): unknown {
  if (!hasBytes(text)) return JSON.parse(text);
  return JSON.parse(text.slice(HAS_BYTES.length), (_key, marked: unknown) => {
    if (typeof marked !== "string") return marked;
    return marked.startsWith(BYTES) ? decodeBase64(marked.slice(BYTES.length)) : marked.slice(TEXT.length);
  });
}

const isBytes = (value: unknown): value is Bytes => ArrayBuffer.isView(value) || value instanceof ArrayBuffer;

/** JSON has texts that are objects as texts, too. */
// oxlint-disable-next-line unicorn/no-instanceof-builtins -- `typeof` does not find them
const isText = (value: unknown): boolean => typeof value === "string" || value instanceof String;

/** All messages of a busy room pass it: it copies nothing. @param isPlain whether `toJSON` was called */
function holdsBytes(value: unknown, isPlain = false): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsItem);
  if (isBytes(value)) return true;
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === "function" && !isPlain) return holdsBytes(toJSON.call(value), true);
  for (const key in value) {
    const field = (value as Readonly<Record<string, unknown>>)[key];
    if (typeof field === "object" && holdsBytes(field)) return true;
  }
  return false;
}

const holdsItem = (item: unknown): boolean => typeof item === "object" && holdsBytes(item);
