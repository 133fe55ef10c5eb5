// The emoji with their names and codes, and how they are found. emoji.ts loads it, a file of its own for the page and the embed, when
// somebody looks for an emoji.

/** The text that scripts/emoji-data.ts makes, put here by the build. */
declare const EMOJI_DATA: string;

interface Emoji {
  readonly emoji: string;
  readonly hasTones: boolean;
  /** Without the colons around them, the shortest first. */
  readonly codes: readonly string[];
  readonly name: string;
  /** Of its codes, its name and what else is said of it. */
  readonly words: readonly string[];
}

export const groups: ReadonlyArray<readonly Emoji[]> = EMOJI_DATA.split("\n\n").map((group) =>
  group.split("\n").map(readEmoji),
);

function readEmoji(line: string): Emoji {
  const [sign = "", written = "", given = "", more = ""] = line.split("|");
  const codes = written.split(" ");
  const name = given || codes.at(-1)!.replaceAll("_", " ");
  const emoji = sign.replace("~", "");
  return {
    emoji,
    hasTones: emoji !== sign,
    codes,
    name,
    words: `${written} ${name} ${more}`.toLowerCase().split(/[\s_:-]+/),
  };
}

/** More than any code has. */
const LENGTH_MAX = 1000;

const all = groups.flat();

export const ofCode = (code: string): Emoji | undefined => all.find(({ codes }) => codes.includes(code));

/** Those of which each of its words begins a word; before them those of which it begins a code, the shortest first. */
export function findEmoji(query: string): readonly Emoji[] {
  const words = query
    .toLowerCase()
    .split(/[\s_:]+/)
    .filter((word) => word !== "");
  const code = words.join("_");
  const fits = (emoji: Emoji): boolean => words.every((word) => emoji.words.some((one) => one.startsWith(word)));
  const lengthOf = ({ codes }: Emoji): number => codes.find((one) => one.startsWith(code))?.length ?? LENGTH_MAX;
  return all
    .filter((emoji) => lengthOf(emoji) < LENGTH_MAX || fits(emoji))
    .toSorted((one, other) => lengthOf(one) - lengthOf(other));
}

const TONES = ["", "🏻", "🏼", "🏽", "🏾", "🏿"];
/** People, and parts of them; but not the hands between two who hold them. */
const TONED = /(?!🤝\u200D)(\p{Emoji_Modifier_Base})\uFE0F?/gu;

/** With a tone of skin, from 1 for light to 5 for dark, if it has tones. */
export const inTone = ({ emoji, hasTones }: Emoji, tone: number): string =>
  hasTones && tone > 0 ? emoji.replaceAll(TONED, `$1${TONES[tone] ?? ""}`) : emoji;
