// Packs what the servers of several objects say to each other: values as JSON, which is what clients get, and bytes beside it. A call between
// objects carries neither class instances nor what has a `toJSON`. Called by siblings.ts and sibling-link.ts.
import { Buffer } from "node:buffer";

export interface Packed {
  readonly text: string;
  /** Begins each text in it that stands for bytes; the index follows. No client can guess it. */
  readonly mark: string;
  readonly bytes: readonly Uint8Array<ArrayBuffer>[];
}

/** @throws Error for a value that holds itself */
export function pack(value: unknown, mark: string): Packed {
  const bytes: Array<Uint8Array<ArrayBuffer>> = [];
  const text = JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key, given: unknown) {
    // Before its `toJSON`, which Buffers have.
    const found = bytesOf(this[key]) ?? bytesOf(given);
    return found ? `${mark}${bytes.push(found) - 1}` : given;
  });
  return { text, mark, bytes };
}

/** A copy, because a view would take its whole buffer with it. */
function bytesOf(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value.slice());
  if (!ArrayBuffer.isView(value)) return undefined;
  return new Uint8Array(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
}

export function unpack({ text, mark, bytes }: Packed): unknown {
  if (bytes.length === 0) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value !== "string" || !value.startsWith(mark)) return value;
    const { buffer, byteOffset, byteLength } = bytes[Number(value.slice(mark.length))]!;
    return Buffer.from(buffer, byteOffset, byteLength);
  });
}

export const sizeOf = ({ text, bytes }: Packed): number =>
  bytes.reduce((sum, { byteLength }) => sum + byteLength, text.length);
