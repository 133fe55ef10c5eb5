// Inserts an item at the end of a bracketed list: an array or object of JSON, an array or inline table of TOML. Called by jsonc.ts and
// toml.ts. The item follows the form of its neighbours: on a line of its own where they have one, with a comma behind it where they do.
import { endOfLine, indentAt, insertAt, lineEndOf } from "./config-format.ts";

/** Offsets in a text. */
export interface Range {
  readonly begin: number;
  readonly end: number;
}

export interface Bracketed {
  /** Between the brackets. */
  readonly inside: Range;
  readonly items: readonly Range[];
  /** The beginnings of comments: those to the end of the line, and those to `*` and a slash. */
  readonly comments: "jsonc" | "toml";
  /** The indentation of one level of the file. */
  readonly step: string;
  /** Whether the brackets may only have line breaks inside their values: inline tables of TOML. */
  readonly isOneLine?: boolean;
}

export function insertItem(text: string, list: Bracketed, item: string): string {
  const last = list.items.at(-1);
  return last ? insertBehind(text, list, last, item) : insertFirst(text, list, item);
}

function insertFirst(text: string, { inside, step, isOneLine }: Bracketed, item: string): string {
  const content = text.slice(inside.begin, inside.end);
  if (content.trim() === "" && (isOneLine || !content.includes("\n"))) {
    const padding = text[inside.begin - 1] === "{" ? " " : "";
    return text.slice(0, inside.begin) + padding + item + padding + text.slice(inside.end);
  }
  // Behind comments, on a line of its own in front of the closing bracket.
  const outer = indentAt(text, inside.end);
  const lineEnd = lineEndOf(text);
  const begin = inside.begin + content.trimEnd().length;
  return `${text.slice(0, begin)}${lineEnd}${outer}${step}${item}${lineEnd}${outer}${text.slice(inside.end)}`;
}

function insertBehind(text: string, list: Bracketed, last: Range, item: string): string {
  const { inside, items, comments, isOneLine } = list;
  const comma = findComma(text, last.end, inside.end, comments);
  const before = items.at(-2)?.end ?? inside.begin;
  const isOnOwnLine = !isOneLine && text.slice(before, last.begin).includes("\n");
  if (!isOnOwnLine)
    return insertAt(text, comma === undefined ? last.end : comma + 1, comma === undefined ? `, ${item}` : ` ${item},`);
  // Behind the comment that the last item may have on its line.
  const lineBreak = endOfLine(text, comma ?? last.end);
  const isClosedThere = lineBreak >= inside.end;
  const at = isClosedThere ? (comma === undefined ? last.end : comma + 1) : lineBreak;
  const added = `${lineEndOf(text)}${indentAt(text, last.begin)}${item}${comma === undefined ? "" : ","}`;
  const withItem = insertAt(text, at, added);
  return comma === undefined ? insertAt(withItem, last.end, ",") : withItem;
}

/** The comma behind an item, which comments may precede. */
function findComma(text: string, from: number, end: number, comments: Bracketed["comments"]): number | undefined {
  for (let at = from; at < end; at++) {
    if (text[at] === ",") return at;
    if (comments === "toml" ? text[at] === "#" : text.startsWith("//", at)) at = endOfLine(text, at);
    else if (comments === "jsonc" && text.startsWith("/*", at)) at = text.indexOf("*/", at) + 1;
  }
  return undefined;
}
