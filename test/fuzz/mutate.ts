// Makes new inputs from known ones: changes characters, inserts words of the target, and changes the structure of JSON. Called by
// loop.ts.

const PIECE_CHARS_MAX = 64;
const INPUT_CHARS_MAX = 4096;
const MUTATIONS_MAX = 4;
/** Repeats of a piece: so many, because growth without a bound shows only then. */
const REPEATS_MAX = 200;

const CHARS = [
  "\0",
  "\n",
  "\r",
  "\x1e",
  "\x7f",
  " ",
  '"',
  "\\",
  "'",
  "%",
  "\u00e4",
  "\u2028",
  "\u{1F600}",
  "\ud83d",
  "\udc00",
  "\ufeff",
  "\u202e",
];
const NUMBERS = [
  "0",
  "-0",
  "-1",
  "1",
  "1.5",
  "10",
  "255",
  "256",
  "65535",
  "65536",
  "2147483648",
  "4294967295",
  "9007199254740991",
  "9007199254740993",
  "1e309",
  "1e-7",
];
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 53,
  "",
  "a",
  "\ud83d",
  "__proto__",
  [],
  {},
  [[]],
  [null],
  { toString: 1 },
  { length: -1 },
  { _placeholder: true, num: 0 },
];
const KEYS = ["__proto__", "constructor", "toJSON", "hasOwnProperty", "length", "then", "0", ""];

type Random = () => number;

export class Mutator {
  readonly #random: Random;
  readonly #words: readonly string[];

  constructor(random: Random, words: readonly string[]) {
    this.#random = random;
    this.#words = words;
  }

  /** @param corpus at least one input */
  next(corpus: readonly string[]): string {
    let input = this.#one(corpus);
    for (let left = 1 + this.#below(MUTATIONS_MAX); left > 0; left--) input = this.#mutate(input, corpus);
    return input.slice(0, INPUT_CHARS_MAX);
  }

  #mutate(input: string, corpus: readonly string[]): string {
    const json = this.#random() < 0.3 ? this.#mutateJson(input) : undefined;
    if (json !== undefined) return json;
    const [from, to] = this.#range(input);
    const [head, piece, tail] = [input.slice(0, from), input.slice(from, to), input.slice(to)];
    switch (this.#below(9)) {
      case 0: // removes the piece
        return head + tail;
      case 1: // doubles it
        return head + piece + piece + tail;
      case 2: // repeats it
        return head + piece.repeat(1 + this.#below(REPEATS_MAX)) + tail;
      case 3: // replaces it with an odd character
        return head + this.#one(CHARS) + tail;
      case 4: // replaces it with a number at a limit
        return head + this.#one(NUMBERS) + tail;
      case 5: // inserts a word of the target
        return head + (this.#words.length > 0 ? this.#one(this.#words) : "") + input.slice(from);
      case 6: // replaces one character
        return head + String.fromCharCode(this.#below(this.#random() < 0.7 ? 256 : 65_536)) + input.slice(from + 1);
      case 7: // replaces some of the numbers
        return input.replace(/-?\d+/g, (number) => (this.#random() < 0.3 ? this.#one(NUMBERS) : number));
      default: // replaces the piece with one of another input
        return head + this.#slice(this.#one(corpus)) + tail;
    }
  }

  /** Replaces a value or a key somewhere in the JSON of an input. @returns `undefined` if the input contains no JSON */
  #mutateJson(input: string): string | undefined {
    // Before the JSON come the type of the packet, its namespace and its ack id.
    const start = input.search(/[[{]/);
    if (start === -1) return undefined;
    try {
      const value: unknown = JSON.parse(input.slice(start));
      return input.slice(0, start) + JSON.stringify(this.#mutateValue(value, 0));
    } catch {
      return undefined;
    }
  }

  #mutateValue(value: unknown, depth: number): unknown {
    const isReplaced = typeof value !== "object" || value === null || this.#random() < 0.15;
    if (isReplaced || depth > 8) return this.#one(VALUES);
    if (Array.isArray(value)) {
      const at = this.#below(value.length + 1);
      return [...value.slice(0, at), this.#mutateValue(value[at], depth + 1), ...value.slice(at + 1)];
    }
    const entries = Object.entries(value);
    const at = this.#below(entries.length + 1);
    const [key, inner] = entries[at] ?? [this.#one(KEYS), this.#one(VALUES)];
    const named = this.#random() < 0.1 ? this.#one(KEYS) : key;
    return Object.fromEntries([
      ...entries.slice(0, at),
      [named, this.#mutateValue(inner, depth + 1)],
      ...entries.slice(at + 1),
    ]);
  }

  #slice(input: string): string {
    const [from, to] = this.#range(input);
    return input.slice(from, to);
  }

  #range(input: string): [from: number, to: number] {
    const from = this.#below(input.length + 1);
    return [from, Math.min(input.length, from + this.#below(PIECE_CHARS_MAX))];
  }

  #one<Item>(items: readonly Item[]): Item {
    return items[this.#below(items.length)]!;
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }
}
