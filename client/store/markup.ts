// Parses a message's text into a tree of plain data: code, quotes, lists, links, mentions and simple emphasis. Any input yields only these
// kinds of nodes, and only addresses of the web and of mail. The page draws the tree, and shows the message that a reply or a dialog is about
// in one line; applications draw it with elements of their own.
import { isVisible } from "../../src/protocol/message.ts";
import { characterAt, characterBefore, isUnspaced, isWord } from "../../src/protocol/text/characters.ts";
import { linksIn, type Link } from "../../src/protocol/text/links.ts";
import { mentionPlaces, type Mention } from "../../src/protocol/text/mentions.ts";

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "strong" | "em" | "del"; readonly children: readonly Inline[] }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "link"; readonly href: string; readonly text: string }
  | { readonly kind: "mention"; readonly user: string };

export type Block =
  | { readonly kind: "text" | "quote"; readonly children: readonly Inline[] }
  | { readonly kind: "pre"; readonly text: string; readonly language?: string }
  | List;

interface List {
  readonly kind: "list";
  /** The number of the first item; a list without numbers has none. */
  readonly start?: number;
  readonly items: readonly ListItem[];
}

interface ListItem {
  readonly children: readonly Inline[];
  /** Those inside the item. */
  readonly lists: readonly List[];
}

/** Levels of emphasis in emphasis; deeper marks stay text. */
const DEPTH_MAX = 3;
/** Characters that the closing marks of so much emphasis have. */
const MARKS_MAX = 6;

const FENCE = "```";
const SPECIAL = /[`*_~@＠]/g;
const QUOTE = /^> ?/;
/** A line that begins an item of a list. A year begins a sentence, and a zero would be lost. */
const ITEM = /^([ \t]*)(?:[-*]|(\d|[1-9]\d{1,2})\.)[ \t]+(\S.*)$/s;
/** A line that goes on with the item above it. */
const OF_ITEM = /^[ \t]{2,}\S/;

/** @param mentions ids of the users whom the message mentions, from the room */
export function parseMarkup(content: string, mentions: readonly string[] = []): Block[] {
  const blocks: Block[] = [];
  const users = new Set(mentions);
  // Earlier releases stored the line ends of other systems.
  const parts = content.replaceAll(/\r\n?/g, "\n").split(FENCE);
  for (const [at, part] of parts.entries()) {
    // Fences come in pairs: text after an unpaired one stays text.
    const isCode = at % 2 === 1 && at < parts.length - 1;
    if (isCode) blocks.push(codeBlock(part));
    else pushText(blocks, at % 2 === 1 ? FENCE + part : part, users, at > 0);
  }
  return blocks;
}

/** A message's text without marks, in one line. */
function plainText(content: string): string {
  return parseMarkup(content).map(blockText).join(" ").replaceAll(/\s+/g, " ").trim();
}

function blockText(block: Block): string {
  if (block.kind === "pre") return block.text;
  if (block.kind !== "list") return textOf(block.children);
  const { start, items } = block;
  const texts = items.flatMap(({ children, lists }, at) => [
    start === undefined ? "•" : `${start + at}.`,
    textOf(children),
    ...lists.map(blockText),
  ]);
  return texts.join(" ");
}

const CACHED_MAX = 500;

/** Caches parsed texts: the list is drawn often, and most of its texts do not change. A full cache drops its oldest half. */
function cached<Value>(parse: (content: string, mentions: readonly string[]) => Value): typeof parse {
  const cache = new Map<string, Value>();
  return (content, mentions) => {
    const key = `${mentions.join(" ")}\n${content}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const value = parse(content, mentions);
    cache.set(key, value);
    if (cache.size > CACHED_MAX)
      for (const oldest of Array.from(cache.keys()).slice(0, CACHED_MAX / 2)) cache.delete(oldest);
    return value;
  };
}

/** As `parseMarkup`, from the cache. */
export const blocksOf: (content: string, mentions: readonly string[]) => readonly Block[] = cached(parseMarkup);

const cachedPlainText = cached(plainText);

/** As `plainText`, from the cache. */
export const lineOf = (content: string): string => cachedPlainText(content, []);

function textOf(nodes: readonly Inline[]): string {
  return nodes
    .map((node) => ("children" in node ? textOf(node.children) : node.kind === "mention" ? `@${node.user}` : node.text))
    .join("");
}

/** A first line of one word names the language, where code follows. */
function codeBlock(part: string): Block {
  const text = part.replace(/\n$/, "");
  const [first, language = "", code = ""] = /^([\w+#.-]{0,20})[ \t]*\n(.*)$/s.exec(text) ?? [];
  if (first === undefined || code.trim() === "") return { kind: "pre", text };
  return { kind: "pre", text: code, ...(language !== "" && { language }) };
}

function pushText(blocks: Block[], text: string, users: ReadonlySet<string>, isAfterCode: boolean): void {
  const trimmed = isAfterCode ? text.replace(/^\n/, "") : text;
  let run: string[] = [];
  let kind: "text" | "quote" | "list" = "text";
  const flush = (): void => {
    const joined = run.join("\n");
    if (kind === "list") blocks.push(...listsOf(run, users));
    else if (joined.trim() !== "") blocks.push({ kind, children: parseParagraphs(joined, users) });
    run = [];
  };
  for (const line of trimmed.split("\n")) {
    const isMore = kind === "list" && OF_ITEM.test(line) && !ITEM.test(line);
    if (isMore) {
      run.push(`${run.pop()}\n${line.trim()}`);
      continue;
    }
    const next = QUOTE.test(line) ? "quote" : ITEM.test(line) ? "list" : "text";
    if (next !== kind) flush();
    kind = next;
    run.push(line.replace(QUOTE, ""));
  }
  flush();
}

interface GrowingList extends List {
  readonly items: Array<ListItem & { readonly lists: GrowingList[] }>;
}

/**
 * Items that are indented more than the first one belong to the item above them: one level. Another kind of mark begins another list, and so
 * does a number that is not the next one: each item is shown with the number that it was written with.
 */
function listsOf(items: readonly string[], users: ReadonlySet<string>): List[] {
  const lists: GrowingList[] = [];
  let least = Infinity;
  for (const line of items) {
    const [, indent, number, text] = ITEM.exec(line) as unknown as [string, string, string | undefined, string];
    const width = indent.replaceAll("\t", "    ").length;
    least = Math.min(least, width);
    const above = width > least + 1 ? lists.at(-1)?.items.at(-1)?.lists : undefined;
    const siblings = above ?? lists;
    const start = number === undefined ? undefined : Number(number);
    const last = siblings.at(-1);
    const next = last?.start === undefined ? undefined : last.start + last.items.length;
    if (!last || start !== next) siblings.push({ kind: "list", ...(start !== undefined && { start }), items: [] });
    siblings.at(-1)!.items.push({ children: parseInline(text, users, 0), lists: [] });
  }
  return lists;
}

/** Parses each paragraph by itself: marks do not reach across an empty line. */
function parseParagraphs(text: string, users: ReadonlySet<string>): Inline[] {
  return text
    .split(/(\n{2,})/)
    .flatMap((part, at): Inline[] => (at % 2 === 1 ? [{ kind: "text", text: part }] : parseInline(part, users, 0)));
}

function parseInline(text: string, users: ReadonlySet<string>, depth: number): Inline[] {
  const nodes: Inline[] = [];
  let textFrom = 0;
  const around = surroundingsOf(text, users, depth);
  const marks = Array.from(text.matchAll(SPECIAL), ({ index }) => index);
  for (const at of [...marks, ...around.links.keys()].toSorted((one, other) => one - other)) {
    const found = at < textFrom ? undefined : nodeAt(text, at, around);
    if (!found) continue;
    if (at > textFrom) nodes.push({ kind: "text", text: text.slice(textFrom, at) });
    nodes.push(found.node);
    textFrom = at + found.length;
  }
  if (textFrom < text.length) nodes.push({ kind: "text", text: text.slice(textFrom) });
  return nodes;
}

interface Surroundings {
  readonly users: ReadonlySet<string>;
  readonly depth: number;
  /** Marks that were looked for in vain: nothing later closes them either. */
  readonly unclosed: Set<string>;
  /** By their places. */
  readonly links: ReadonlyMap<number, ShownLink>;
  readonly mentions: ReadonlyMap<number, Mention>;
  /**
   * The text without the marks that are characters of an address, and the same with those at its end, which may close emphasis that began
   * before it: at once where the address has no mark to go with it, and otherwise if no later one does.
   */
  readonly masked: readonly [string, string];
}

/** A link as the text has it: an address, or `[label](address)`. */
interface ShownLink extends Link {
  readonly label: string;
}

function surroundingsOf(text: string, users: ReadonlySet<string>, depth: number): Surroundings {
  const addresses = linksIn(text).map((link): ShownLink => ({ ...link, label: text.slice(link.from, link.to) }));
  const labelled: ShownLink[] = [];
  for (const [index, address] of addresses.entries()) {
    const link = labelledLink(text, address, addresses[index - 1]);
    if (link) labelled.push(link);
  }
  const mentions = users.size > 0 ? mentionPlaces(text) : [];
  let [masked, loose, at] = ["", "", 0];
  for (const { from, to } of [...addresses, ...labelled].toSorted((one, other) => one.from - other.from)) {
    // An address of a label.
    if (from < at) continue;
    const [marks = ""] = /[*_~]*$/.exec(text.slice(Math.max(from, to - MARKS_MAX), to)) ?? [];
    const hidden = "x".repeat(to - from - marks.length);
    const isPaired = text.slice(from, to).split(marks[0] ?? "").length % 2 === 1;
    masked += text.slice(at, from) + hidden + (isPaired ? "x".repeat(marks.length) : marks);
    loose += text.slice(at, from) + hidden + marks;
    at = to;
  }
  return {
    users,
    depth,
    unclosed: new Set(),
    links: new Map([...addresses, ...labelled].map((link) => [link.from, link])),
    mentions: new Map(mentions.map((mention) => [mention.from, mention])),
    masked: [masked + text.slice(at), loose + text.slice(at)],
  };
}

/** @param before the address before, which is in the label only if the label is that address and leads where it says */
function labelledLink(text: string, { from, to, href }: Link, before: Link | undefined): ShownLink | undefined {
  const end = from - 2;
  if (text[end] !== "]" || text[from - 1] !== "(" || text[to] !== ")") return undefined;
  const isSame = before?.to === end && before.href === href && text[before.from - 1] === "[";
  const begin = isSame ? before.from - 1 : bracketBefore(text, end, before?.to ?? 0);
  const label = begin === undefined ? "" : text.slice(begin + 1, end);
  return isVisible(label.replaceAll(UNSEEN, "")) ? { from: begin!, to: to + 1, href, label } : undefined;
}

/** The place of the bracket that the one at `end` closes, in its line. */
function bracketBefore(text: string, end: number, after: number): number | undefined {
  for (let at = end - 1, open = 0; at >= after && text[at] !== "\n"; at--) {
    if (text[at] === "]") open++;
    else if (text[at] === "[" && open-- === 0) return at;
  }
  return undefined;
}

interface Found {
  readonly node: Inline;
  readonly length: number;
}

function nodeAt(text: string, at: number, around: Surroundings): Found | undefined {
  const link = around.links.get(at);
  if (link) return linkNode(link, around);
  switch (text[at]) {
    case "`":
      return codeAt(text, at, around.unclosed);
    case "@":
    case "＠":
      return mentionAt(at, around);
    case "*":
      return text[at + 1] === "*"
        ? emphasisAt(text, at, "**", "strong", around)
        : emphasisAt(text, at, "*", "em", around);
    case "_":
      return emphasisAt(text, at, "_", "em", around);
    default:
      return text[at + 1] === "~" ? emphasisAt(text, at, "~~", "del", around) : undefined;
  }
}

function codeAt(text: string, at: number, unclosed: Set<string>): Found | undefined {
  const end = unclosed.has("`") ? -1 : text.indexOf("`", at + 1);
  if (end < 0) unclosed.add("`");
  const code = text.slice(at + 1, end);
  if (end < 0 || code === "" || code.includes("\n")) return undefined;
  return { node: { kind: "code", text: code }, length: end + 1 - at };
}

function linkNode({ from, to, href, label }: ShownLink, { users, depth }: Surroundings): Found {
  const isLabelled = to - from > label.length;
  const text = isLabelled ? honest(textOf(parseInline(label, users, depth)), href) : label;
  return { node: { kind: "link", href, text }, length: to - from };
}

/** Characters that turn text around. */
const TURNING = /[\u202A-\u202E\u2066-\u2069]/g;
/** Characters that have no width of their own. */
const UNSEEN = /[\p{Cf}\p{DI}\p{M}]/gu;
/** A word that names a host: `bank.example`, `192.0.2.1`. */
const HOST = /\.\p{L}{2}|^\d+(?:\.\d+){3}\.*$/u;

/** The label, followed by where its link leads if the label names another host. */
function honest(label: string, href: string): string {
  const text = label.replaceAll(TURNING, "").replaceAll(/\s+/g, " ").trim();
  const { host, pathname } = new URL(href);
  const words = text
    .normalize("NFKC")
    .replaceAll(UNSEEN, "")
    .toLowerCase()
    .split(/[^\p{L}\p{N}.-]+/u);
  const isOther = (word: string): boolean => HOST.test(word) && bareHost(word) !== bareHost(host);
  return words.some(isOther) ? `${text} (${host || pathname})` : text;
}

/** Without the dots of the sentence. */
const bareHost = (host: string): string => host.replace(/^www\.|^\.+/, "").replace(/(?<!\.)\.+$/, "");

function mentionAt(at: number, { mentions, users }: Surroundings): Found | undefined {
  const mention = mentions.get(at);
  if (!mention || !users.has(mention.user)) return undefined;
  const { user, from, to } = mention;
  return { node: { kind: "mention", user }, length: to - from };
}

function emphasisAt(
  text: string,
  at: number,
  mark: string,
  kind: "strong" | "em" | "del",
  { users, depth, unclosed, masked }: Surroundings,
): Found | undefined {
  if (depth === DEPTH_MAX || unclosed.has(mark)) return undefined;
  const from = at + mark.length;
  if (isSpaceAt(text, from) || (mark !== "~~" && isWordBefore(text, at))) return undefined;
  const end = closing(masked[0], from, mark) ?? closing(masked[1], from, mark);
  if (end === undefined) {
    unclosed.add(mark);
    return undefined;
  }
  const children = parseInline(text.slice(from, end), users, depth + 1);
  return { node: { kind, children }, length: end + mark.length - at };
}

/** The place of the closing mark: not after a space; a single mark does not close inside a word or a double mark. */
function closing(text: string, from: number, mark: string): number | undefined {
  for (let end = text.indexOf(mark, from + 1); end >= 0; end = text.indexOf(mark, end + 1)) {
    const after = end + mark.length;
    if (isSpaceAt(text, end - 1)) continue;
    if (mark === "*" && (text[after] === "*" || text[end - 1] === "*")) continue;
    if (mark === "_" && isWordAt(text, after)) continue;
    return end;
  }
  return undefined;
}

const isSpaceAt = (text: string, at: number): boolean => at >= text.length || /\s/.test(text[at]!);
/** Whether a word stands there that the mark would be in the middle of. Scripts without spaces have marks between their letters. */
const isInWord = (character: string): boolean => isWord(character) && !isUnspaced(character);
const isWordAt = (text: string, at: number): boolean => isInWord(characterAt(text, at));
const isWordBefore = (text: string, at: number): boolean => isInWord(characterBefore(text, at));
