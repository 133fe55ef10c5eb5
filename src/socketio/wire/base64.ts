// Bytes as base64 and back, in all runtimes. Called by the other codecs of this folder.

// Part of all runtimes of this code (browsers, Node, workerd), but not of the language.
declare function btoa(binary: string): string;
declare function atob(text: string): string;

/** Bytes converted by one call, because a call takes a limited number of arguments. */
const CHUNK_BYTES = 8192;

export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES));
  }
  return btoa(binary);
}

/** @returns `undefined` for text that is no base64 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text);
    // `Uint8Array.from` of the text takes many times as long.
    return new Uint8Array(binary.length).map((_, at) => binary.charCodeAt(at));
  } catch {
    return undefined;
  }
}
