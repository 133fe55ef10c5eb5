// Text edits for the composer's keys: marks such as `**` around a selection, and a link from an address pasted over a selection. Pure functions;
// the composer calls them.
import { parseMarkup } from "parley-rooms/client";

export type Mark = "**" | "_" | "~~" | "`";

interface Range {
  readonly from: number;
  readonly to: number;
}

/** A text in place of that range. */
interface Change extends Range {
  readonly text: string;
  /** What is selected afterwards. */
  readonly selected: Range;
}

/** A line: what it begins with as a quote or an item of a list, the words, spaces. */
const LINE = /^([ \t]*(?:> ?)?(?:(?:[-*]|(?:\d|[1-9]\d{1,2})\.)[ \t]+)?)(.*?)(\s*)$/;

/** Puts the mark around what is selected in the field, or takes it away; at a caret begins marked text, or ends it. */
export function marked(value: string, { from, to }: Range, mark: Mark): Change {
  const text = value.slice(from, to);
  const isBlock = mark === "`" && text.includes("\n");
  const [open, close] = isBlock ? ["```\n", "\n```"] : [mark, mark];
  const [before, after] = [value.slice(0, from), value.slice(to)];
  if (before.endsWith(open) && after.startsWith(close)) {
    const start = from - open.length;
    return { from: start, to: to + close.length, text, selected: { from: start, to: start + text.length } };
  }
  if (text === "") {
    const isEnd = after.startsWith(close) && /\S$/.test(before);
    const caret = from + open.length;
    return { from, to, text: isEnd ? "" : open + close, selected: { from: caret, to: caret } };
  }
  // Marks do not reach from one item of a list into the next.
  const lines = isBlock ? [["", text, ""]] : text.split("\n").map((line) => LINE.exec(line)!.slice(1));
  const isMarked = (words: string): boolean =>
    words.length > open.length + close.length && words.startsWith(open) && words.endsWith(close);
  const isUnmarking = lines.every(([, words]) => words === "" || isMarked(words!));
  const written = lines.map(([lead, words = "", spaces]) => {
    if (words === "" || (isMarked(words) && !isUnmarking)) return [lead, words, spaces].join("");
    return lead + (isUnmarking ? words.slice(open.length, -close.length) : open + words + close) + spaces;
  });
  const changed = written.join("\n");
  // One line is selected without its marks, so that the same key takes them away.
  const [lead = "", words = "", spaces = ""] = lines.length === 1 ? lines[0]! : [];
  const outside = words === "" || isUnmarking ? 0 : 1;
  const begin = from + lead.length + open.length * outside;
  const end = from + changed.length - spaces.length - close.length * outside;
  return { from, to, text: changed, selected: { from: begin, to: end } };
}

/** The selected text as a link to the pasted address; nothing if they are something else. */
export function linkTo(pasted: string, selected: string): string | undefined {
  const address = pasted.trim();
  const [, lead, words, spaces] = /^(\s*)(.*?)(\s*)$/s.exec(selected)!;
  const link = `[${words}](${address})`;
  return isLink(address) && !isLink(words!) && isLink(link) ? lead + link + spaces : undefined;
}

/** Whether the text is one link and nothing else. */
function isLink(text: string): boolean {
  const [block, ...more] = parseMarkup(text);
  return (
    block?.kind === "text" && more.length === 0 && block.children.length === 1 && block.children[0]!.kind === "link"
  );
}
