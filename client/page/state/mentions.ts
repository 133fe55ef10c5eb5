// Converts mentions between the field, which shows names, and the room, which stores ids (MSG-8). Pure; people.ts calls it.

/** Text between backticks mentions no user. */
const CODE = /(```[\s\S]*?(?:```|$)|`[^`\n]*`)/g;
/** Characters before an `@` that rule a mention out, such as those of mail addresses and URLs. */
const WORD_SO_FAR = /[\p{L}\p{N}_.+\-/@:=&?#%~]$/u;
/** An id that needs no angle brackets. */
const PLAIN_ID = /^[\p{L}\p{N}_](?:[\p{L}\p{N}_.|:~+-]*[\p{L}\p{N}_])?$/u;
/** Text that would be read as a part of the id before it. */
const GOES_ON = /^[.|:~+-]*[\p{L}\p{N}_]/u;
const WRITTEN = /@(?:<([^<>\n]{1,128})>|([\p{L}\p{N}_](?:[\p{L}\p{N}_.|:~+-]{0,126}[\p{L}\p{N}_])?))/gu;
const WORD_BEGIN = /^[\p{L}\p{N}_]/u;

/** Converts the text of the field to that of the room. @param labels users by their labels in the field */
export function withIds(text: string, labels: ReadonlyMap<string, string>): string {
  if (!text.includes("@")) return text;
  const users = new Set(labels.values());
  // Of two names, one may begin with the other.
  const longestFirst = [...labels.keys()].toSorted((a, b) => b.length - a.length);
  return outsideCode(text, (part) => {
    let written = "";
    for (let at = 0; at < part.length; at++) {
      const label = part[at] === "@" && !WORD_SO_FAR.test(written) ? labelAt(part, at + 1, longestFirst, users) : "";
      written += label === "" ? part[at]! : mentionOf(labels.get(label)!, part.slice(at + 1 + label.length));
      at += label.length;
    }
    return written;
  });
}

/** A mention of a person whose label is known: the text in its place, and the UTF-16 positions of its begin and end. */
export type Labelled = readonly [text: string, from: number, to: number];

type LabelOf = (user: string) => string | undefined;

/** The mentions in the room's text of people whose labels are known, in order. */
export function labelledIn(content: string, labelOf: LabelOf): Labelled[] {
  // Of the same length, so that places stay.
  const text = content.replaceAll(CODE, (code) => "\n".repeat(code.length));
  return Array.from(text.matchAll(WRITTEN)).flatMap(({ 0: mention, 1: quoted, 2: plain, index: from }): Labelled[] => {
    const label = WORD_SO_FAR.test(text.slice(0, from)) ? undefined : labelOf((quoted ?? plain)!);
    const to = from + mention.length;
    return label !== undefined && isWhole(text, to) ? [[`@${label}`, from, to]] : [];
  });
}

/** Converts the room's text to the field's. */
export function relabelled(content: string, mentions: readonly Labelled[]): string {
  let [text, at] = ["", 0];
  for (const [label, from, to] of mentions) {
    text += content.slice(at, from) + label;
    at = to;
  }
  return text + content.slice(at);
}

/** The longest whole label at this place; empty where there is none, or where a user's id stands. */
function labelAt(text: string, at: number, longestFirst: readonly string[], users: ReadonlySet<string>): string {
  const [, , id] = /^@(?:<([^<>\n]{1,128})>|([\p{L}\p{N}_.|:~+-]*[\p{L}\p{N}_]))/u.exec(text.slice(at - 1)) ?? [];
  const label = longestFirst.find((label) => text.startsWith(label, at) && isWhole(text, at + label.length)) ?? "";
  return id !== undefined && users.has(id) && id.length >= label.length ? "" : label;
}

const isWhole = (text: string, end: number): boolean => !WORD_BEGIN.test(text.slice(end));

/** @param rest the text after the mention */
export function mentionOf(user: string, rest: string): string {
  return PLAIN_ID.test(user) && !GOES_ON.test(rest) ? `@${user}` : `@<${user}>`;
}

/** Every other part is code. */
const outsideCode = (text: string, change: (part: string) => string): string =>
  text
    .split(CODE)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join("");
