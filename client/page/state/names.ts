// Keeps people's names from misleading: characters that turn the text around are never shown, names that look the same compare as equal,
// and in sentences of plain text (tooltips, labels, announcements) a name does not reorder the words around it. Pure; components and
// state classes call it. Elements isolate a name with `<bdi>`.
import { direction } from "./language.ts";

/** Characters that change the direction of the text after them. */
const TURNING = /[\u202A-\u202E\u2066-\u2069]/gu;
const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
const ISOLATE = "\u2068";
const END = "\u2069";

/** The name as it is shown. */
export const bare = (name: string): string => name.replaceAll(TURNING, "");

/** What a reader can see of the name: the same for names that look the same. */
export const visible = (name: string): string => name.replaceAll(/[\p{Cf}\p{DI}]/gu, "");

/** For comparisons with what a person types: without accents, in small letters. */
export const plain = (text: string): string => text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();

/** The name as a part of a sentence, which may run the other way. */
export function named(name: string): string {
  const shown = bare(name) || "?";
  return RIGHT_TO_LEFT.test(shown) || direction() === "rtl" ? ISOLATE + shown + END : shown;
}
