// Isolates people's names in sentences of plain text (tooltips, labels, announcements), so that a right-to-left name does not
// reorder the words around it. Pure; elements use `<bdi>`.

/** Characters that change the direction of the text after them. */
const TURNING = /[\u202A-\u202E\u2066-\u2069]/gu;
const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
const ISOLATE = "\u2068";
const END = "\u2069";

export const bare = (name: string): string => name.replaceAll(TURNING, "");

/** The name as a part of a sentence. */
export function named(name: string): string {
  const plain = bare(name) || "?";
  return RIGHT_TO_LEFT.test(plain) ? ISOLATE + plain + END : plain;
}
