// Messages as they were parsed, kept for as long as they are likely to be drawn again: the list is drawn often, and most of its
// texts stay what they are.
import { parseMarkup, plainText, type Block } from "./markup.ts";

const KEPT_MAX = 500;

/** The oldest half makes room. */
function remembering<Value>(parse: (content: string, mentions: readonly string[]) => Value): typeof parse {
  const kept = new Map<string, Value>();
  return (content, mentions) => {
    const key = `${mentions.join(" ")}\n${content}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const value = parse(content, mentions);
    kept.set(key, value);
    if (kept.size > KEPT_MAX) for (const oldest of Array.from(kept.keys()).slice(0, KEPT_MAX / 2)) kept.delete(oldest);
    return value;
  };
}

export const blocksOf: (content: string, mentions: readonly string[]) => readonly Block[] = remembering(parseMarkup);

const lines = remembering(plainText);

/** The message in one line. */
export const lineOf = (content: string): string => lines(content, []);
