// Bytes as base64 text and back, for binary packets in long-polling payloads (RFC 4648, section 4).

// Part of every runtime this code meets (browsers, Node, workerd), though not of the language.
declare function btoa(binary: string): string;
declare function atob(text: string): string;

/** Bytes turned into one string at a time: `apply` takes only so many arguments. */
const CHUNK_BYTES = 8192;

export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES));
  }
  return btoa(binary);
}

/** @returns `undefined` for text that is not base64 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
