// Tells which parts of a text in a programming language are keywords, strings and the like. Loaded when the first such text is drawn:
// components/code-block.tsx calls it.
import { parse, type ParsedLine, type TokenType } from "sugar-high/core";
import { languages } from "sugar-high/lang";

/** The parser takes long for some texts of this length. A longer one has no colours. */
export const COLOURED_MAX = 3000;

/** What a part is to the reader, who tells it by its colour. */
export type Role = "keyword" | "string" | "value" | "name" | "comment" | "added" | "removed";

export interface Part {
  readonly text: string;
  readonly role?: Role | undefined;
}

const ROLES: Partial<Record<TokenType, Role>> = {
  keyword: "keyword",
  string: "string",
  class: "value",
  property: "name",
  entity: "name",
  comment: "comment",
};
/** What the parser says of whole lines. */
const LINE_ROLES: Readonly<Record<string, Role>> = {
  "diff-add": "added",
  "diff-remove": "removed",
  "diff-hunk": "comment",
  "diff-meta": "comment",
};

const BY_NAME = new Map(
  languages.flatMap((language) =>
    [language.id, language.extension, ...language.aliases].map((name) => [name, language] as const),
  ),
);

/** The text in parts; none if nobody knows the language, or if the parser does not give all of the text back. */
export function colouredParts(text: string, language: string): readonly Part[] | undefined {
  const known = BY_NAME.get(language.toLowerCase());
  if (!known || text.length > COLOURED_MAX) return undefined;
  const parts = parse(text, known.config).lines.flatMap((line, at) => [
    ...(at > 0 ? [{ text: "\n" }] : []),
    ...partsOf(line),
  ]);
  return parts.map((part) => part.text).join("") === text ? joined(parts) : undefined;
}

function partsOf({ value, tokens, annotations }: ParsedLine): Part[] {
  const role = LINE_ROLES[annotations[0] ?? ""];
  return role ? [{ text: value, role }] : tokens.map((token) => ({ text: token.value, role: ROLES[token.type] }));
}

/** Neighbours of one role are one part. */
function joined(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const { text, role } of parts) {
    const before = joined.at(-1);
    if (before && before.role === role) joined[joined.length - 1] = { text: before.text + text, role };
    else joined.push({ text, role });
  }
  return joined;
}
