// Parses a message's text into a tree of plain data: code, quotes, links, mentions and simple emphasis. Any input yields only
// these kinds of nodes, and only http(s) addresses. content.tsx draws the tree; replies and dialogs show the message that they are about
// in one line.

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "strong" | "em" | "del"; readonly children: readonly Inline[] }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "link"; readonly href: string; readonly text: string }
  | { readonly kind: "mention"; readonly user: string };

export type Block =
  | { readonly kind: "text" | "quote"; readonly children: readonly Inline[] }
  | { readonly kind: "pre"; readonly text: string; readonly language?: string };

/** Levels of emphasis in emphasis; deeper marks stay text. */
const DEPTH_MAX = 3;

const FENCE = "```";
const SPECIAL = /[`*_~@h]/g;
const URL_AT = /https?:\/\/[^\s<>"`\\^{|}]+/y;
const WORD_CHARACTER = /[\p{L}\p{N}_]/u;
/** Characters before an `@` that rule a mention out, such as those of mail addresses and URLs (MSG-8). */
const WORD_SO_FAR = /[\p{L}\p{N}_.+\-/@:=&?#%~]/u;

/** @param mentions ids of the users whom the message mentions, from the room */
export function parseMarkup(content: string, mentions: readonly string[] = []): Block[] {
  const blocks: Block[] = [];
  // Of two ids, one may begin with the other.
  const users = mentions.toSorted((a, b) => b.length - a.length);
  const parts = content.split(FENCE);
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
  const texts = parseMarkup(content).map((block) => (block.kind === "pre" ? block.text : textOf(block.children)));
  return texts.join(" ").replaceAll(/\s+/g, " ").trim();
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

/** A first line without spaces names the language, where code follows. */
function codeBlock(part: string): Block {
  const text = part.replace(/\n$/, "");
  const [first, language = "", code = ""] = /^([\w+#.-]{0,20})\n(.*)$/s.exec(text) ?? [];
  if (first === undefined || code.trim() === "") return { kind: "pre", text };
  return { kind: "pre", text: code, ...(language !== "" && { language }) };
}

function pushText(blocks: Block[], text: string, users: readonly string[], isAfterCode: boolean): void {
  const trimmed = isAfterCode ? text.replace(/^\n/, "") : text;
  let run: string[] = [];
  let isQuote = false;
  const flush = (): void => {
    const joined = run.join("\n");
    run = [];
    if (joined.trim() === "") return;
    blocks.push({ kind: isQuote ? "quote" : "text", children: parseParagraphs(joined, users) });
  };
  for (const line of trimmed.split("\n")) {
    const quoted = /^> ?/.test(line);
    if (quoted !== isQuote) flush();
    isQuote = quoted;
    run.push(quoted ? line.replace(/^> ?/, "") : line);
  }
  flush();
}

/** Parses each paragraph by itself: marks do not reach across an empty line. */
function parseParagraphs(text: string, users: readonly string[]): Inline[] {
  return text
    .split(/(\n{2,})/)
    .flatMap((part, at): Inline[] => (at % 2 === 1 ? [{ kind: "text", text: part }] : parseInline(part, users, 0)));
}

function parseInline(text: string, users: readonly string[], depth: number): Inline[] {
  const nodes: Inline[] = [];
  let textFrom = 0;
  const unclosed = new Set<string>();
  const special = new RegExp(SPECIAL);
  for (let match = special.exec(text); match; match = special.exec(text)) {
    const found = nodeAt(text, match.index, { users, depth, unclosed });
    if (!found) continue;
    if (match.index > textFrom) nodes.push({ kind: "text", text: text.slice(textFrom, match.index) });
    nodes.push(found.node);
    textFrom = match.index + found.length;
    special.lastIndex = textFrom;
  }
  if (textFrom < text.length) nodes.push({ kind: "text", text: text.slice(textFrom) });
  return nodes;
}

interface Surroundings {
  readonly users: readonly string[];
  readonly depth: number;
  /** Marks that were looked for in vain: nothing later closes them either. */
  readonly unclosed: Set<string>;
}

interface Found {
  readonly node: Inline;
  readonly length: number;
}

function nodeAt(text: string, at: number, around: Surroundings): Found | undefined {
  switch (text[at]) {
    case "`":
      return codeAt(text, at, around.unclosed);
    case "h":
      return linkAt(text, at);
    case "@":
      return mentionAt(text, at, around.users);
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

function linkAt(text: string, at: number): Found | undefined {
  if (isWordBefore(text, at)) return undefined;
  const pattern = new RegExp(URL_AT);
  pattern.lastIndex = at;
  const matched = pattern.exec(text)?.[0];
  if (matched === undefined) return undefined;
  const address = withoutTrailing(matched);
  try {
    return { node: { kind: "link", href: new URL(address).href, text: address }, length: address.length };
  } catch {
    return undefined;
  }
}

/** Leaves out the punctuation that ends the sentence, and closing brackets that were opened before the address. */
function withoutTrailing(address: string): string {
  // Closing brackets that nothing in the address opened.
  const excess = new Map([
    [")", count(address, ")") - count(address, "(")],
    ["]", count(address, "]") - count(address, "[")],
  ]);
  let end = address.length;
  for (; end > 0; end--) {
    const last = address[end - 1]!;
    const over = excess.get(last);
    if (over === undefined ? !/[.,;:!?'*_~]/.test(last) : over <= 0) break;
    if (over !== undefined) excess.set(last, over - 1);
  }
  return address.slice(0, end);
}

const count = (text: string, character: string): number => text.split(character).length - 1;

function mentionAt(text: string, at: number, users: readonly string[]): Found | undefined {
  if (at > 0 && WORD_SO_FAR.test(text[at - 1]!)) return undefined;
  for (const user of users) {
    const quoted = `<${user}>`;
    if (text.startsWith(quoted, at + 1)) return { node: { kind: "mention", user }, length: quoted.length + 1 };
    const end = at + 1 + user.length;
    if (text.startsWith(user, at + 1) && !isWordAt(text, end))
      return { node: { kind: "mention", user }, length: user.length + 1 };
  }
  return undefined;
}

function emphasisAt(
  text: string,
  at: number,
  mark: string,
  kind: "strong" | "em" | "del",
  { users, depth, unclosed }: Surroundings,
): Found | undefined {
  if (depth === DEPTH_MAX || unclosed.has(mark)) return undefined;
  const from = at + mark.length;
  if (isSpaceAt(text, from) || (mark !== "~~" && isWordBefore(text, at))) return undefined;
  const end = closing(text, from, mark);
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
const isWordAt = (text: string, at: number): boolean => at < text.length && WORD_CHARACTER.test(text[at]!);
const isWordBefore = (text: string, at: number): boolean => at > 0 && WORD_CHARACTER.test(text[at - 1]!);
