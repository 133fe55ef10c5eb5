// Emoji in what the reader writes: when a code is one, the data on demand, and which emoji the reader likes. The composer, the picker and the
// completion call it.
import { type Block, blocksOf, type Inline } from "parley-rooms/client";

import { keep, keyAt, local, readJson } from "./json-storage.ts";

export type EmojiData = typeof import("./emoji-data.ts");

/** Where the build has put the names and codes of all emoji, beside the file that this is a part of. */
declare const EMOJI_MODULE: string;

/** Once they are there. */
export let emojiData: EmojiData | undefined;

export async function loadEmoji(): Promise<EmojiData> {
  emojiData = (await import(EMOJI_MODULE)) as EmojiData;
  return emojiData;
}

/** A code at the end of a text; not in a word, a time or an address. */
const CODE = /(?<![\p{L}\p{N}_:/]):([a-z0-9_+-]+)(:?)$/u;
const OPEN_MIN = 2;

interface Code {
  /** Where its colon is. */
  readonly from: number;
  readonly query: string;
}

/** The code that is being written: its colon, and two letters or more up to the caret. */
export function openCodeIn(text: string, caret: number): Code | undefined {
  const code = codeBefore(text, caret, "");
  return code && code.query.length >= OPEN_MIN ? code : undefined;
}

/** The code whose second colon is the last character before the caret. */
export const wholeCodeIn = (text: string, caret: number): Code | undefined => codeBefore(text, caret, ":");

function codeBefore(text: string, caret: number, end: "" | ":"): Code | undefined {
  const before = text.slice(0, caret);
  const [whole = "", query = "", colon] = CODE.exec(before) ?? [];
  if (colon !== end || !isProse(before, `:${query}`)) return undefined;
  return { from: caret - whole.length, query };
}

/** Whether what the text ends with is neither in code, also in code that nobody has closed yet, nor in an address. */
const isProse = (text: string, end: string): boolean =>
  ["", "`", "\n```"].every((closing) => {
    const last = blocksOf(text.replace(/:$/, "") + closing, []).at(-1);
    const leaf = last && (last.kind === "pre" ? last : leafOf(lastWords(last)));
    return !leaf || leaf.kind === "text" || !("text" in leaf) || !leaf.text.endsWith(end);
  });

function lastWords(block: Exclude<Block, { readonly kind: "pre" }>): readonly Inline[] {
  if (block.kind !== "list") return block.children;
  const { children, lists } = block.items.at(-1)!;
  return lists.length > 0 ? lastWords(lists.at(-1)!) : children;
}

function leafOf(nodes: readonly Inline[]): Exclude<Inline, { readonly children: unknown }> | undefined {
  const last = nodes.at(-1);
  return last && "children" in last ? leafOf(last.children) : last;
}

/** What a message is answered with most. */
const QUICK = ["👍", "❤️", "😂", "🎉", "😮", "😢", "🙏", "🔥"];
const LIKED_MAX = 16;
const LIKED_NAME = "parley.emoji";
export const likedKey = (base: string): string => keyAt(base, LIKED_NAME);

/** The emoji that a reader took last, and their tone of skin, kept in this browser. */
export class LikedEmoji {
  readonly #key: string;

  constructor(base: string) {
    this.#key = likedKey(base);
  }

  /** The last one taken first; a row of them at least. */
  get emoji(): readonly string[] {
    const { taken } = this.#kept;
    return [...new Set([...taken, ...QUICK])].slice(0, Math.max(QUICK.length, taken.length));
  }

  /** 0 for none; from 1 for light to 5 for dark. */
  get tone(): number {
    return this.#kept.tone;
  }

  take(emoji: string): void {
    const { taken, tone } = this.#kept;
    keep(local, this.#key, { taken: [...new Set([emoji, ...taken])].slice(0, LIKED_MAX), tone });
  }

  setTone(tone: number): void {
    keep(local, this.#key, { ...this.#kept, tone });
  }

  get #kept(): { readonly taken: readonly string[]; readonly tone: number } {
    const { taken, tone } = (readJson(local, this.#key) ?? {}) as { readonly taken?: unknown; readonly tone?: unknown };
    return {
      taken: Array.isArray(taken) ? taken.filter((emoji) => typeof emoji === "string") : [],
      tone: typeof tone === "number" ? tone : 0,
    };
  }
}
