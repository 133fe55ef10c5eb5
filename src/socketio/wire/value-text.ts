// Encodes values of events, answers and `welcome` as text, for calls between the objects of a room: as JSON, or with marks where a value holds
// bytes. Called by chat/shards and shards, and by chat/custom, which checks that a value can be sent.
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { ATTACHMENTS_MAX, toBytes } from "./socket-io.ts";

/** The first character of the text of a value with bytes. No JSON begins with it. */
const HAS_BYTES = "b";

/**
 * In the JSON that follows, every string begins with a mark: of bytes as base64, of bytes that stood there before, by their number, or of a
 * text. So a client's text is never read as bytes.
 */
const BYTES = "b";
const SAME_BYTES = "s";
const TEXT = "t";

/** Levels of lists and objects in a value: decoding takes more of the stack than encoding, and must not fail for what was encoded. */
const LEVELS_MAX = 500;
/** Of the item of a chunk, with a value in it. */
export const ITEM_LEVELS_MAX = LEVELS_MAX + 8;

const TOO_MUCH = "too deep, or bytes in more than 10 places";

type Bytes = ArrayBuffer | ArrayBufferView;

/**
 * As `JSON.stringify`, but bytes (SIO-8: an `ArrayBuffer`, or any view of one) stay bytes.
 * @throws TypeError, RangeError for a value that JSON cannot hold, as of cycles; RangeError for more bytes than a packet carries, or more
 * levels
 */
export function encodeValue(value: unknown, levelsMax = LEVELS_MAX): string | undefined {
  if (countBytes(value, levelsMax) === 0) return JSON.stringify(value);
  const numbers = new Map<Bytes, number>();
  const marked = JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key, plain: unknown) {
    // A Buffer has a `toJSON`, which was called.
    const given = [this[key], plain].find(isBytes);
    if (!given) return isText(plain) ? `${TEXT}${String(plain)}` : plain;
    const number = numbers.get(given);
    // A client may name an attachment in several places: once is enough.
    if (number !== undefined) return `${SAME_BYTES}${number}`;
    numbers.set(given, numbers.size);
    return BYTES + encodeBase64(toBytes(given));
  });
  return HAS_BYTES + marked;
}

/** Whether `encodeValue` made a text of a value with bytes: it is no JSON then. */
export const hasBytes = (text: string): boolean => text.startsWith(HAS_BYTES);

/** @returns the value of a text that `encodeValue` made, in which all bytes are a `Uint8Array` */
export function decodeValue(text: string): unknown {
  if (!hasBytes(text)) return JSON.parse(text);
  const known: unknown[] = [];
  return JSON.parse(text.slice(HAS_BYTES.length), (_key, marked: unknown) => {
    if (typeof marked !== "string") return marked;
    const rest = marked.slice(1);
    if (marked.startsWith(TEXT)) return rest;
    if (marked.startsWith(SAME_BYTES)) return known[Number(rest)];
    const bytes = decodeBase64(rest);
    known.push(bytes);
    return bytes;
  });
}

const isBytes = (value: unknown): value is Bytes => ArrayBuffer.isView(value) || value instanceof ArrayBuffer;

/** JSON has texts that are objects as texts, too. */
// oxlint-disable-next-line unicorn/no-instanceof-builtins -- `typeof` does not find them
const isText = (value: unknown): boolean => typeof value === "string" || value instanceof String;

/** All messages of a busy room pass it: it copies nothing. @param isPlain whether `toJSON` was called */
function countBytes(value: unknown, levels: number, isPlain = false): number {
  if (typeof value !== "object" || value === null) return 0;
  if (isBytes(value)) return 1;
  if (levels < 0) throw new RangeError(TOO_MUCH);
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === "function" && !isPlain) return countBytes(toJSON.call(value), levels, true);
  let count = 0;
  for (const key in value) {
    const field = (value as Readonly<Record<string, unknown>>)[key];
    if (typeof field === "object") count += countBytes(field, levels - 1);
    if (count > ATTACHMENTS_MAX) throw new RangeError(TOO_MUCH);
  }
  return count;
}
