// wrangler.toml. A list of tables may stand in it as `[[a.b]]`, as an array, or in an inline table; an addition takes the form that is
// there. Called by config-file.ts.
import { getStaticTOMLValue, parseTOML, type AST } from "toml-eslint-parser";

import { insertItem } from "./bracketed.ts";
import { endOfLine, insertAt, lineEndOf, type ConfigFormat, type Path, type Value } from "./config-format.ts";

/** Wrangler reads TOML 1.0. */
const OPTIONS = { tomlVersion: "1.0" } as const;

type Table = AST.TOMLTopLevelTable | AST.TOMLTable;

export const toml: ConfigFormat = {
  parse: (text) => {
    try {
      return getStaticTOMLValue(read(text));
    } catch (error) {
      const { message, lineNumber } = error as Error & { lineNumber?: number };
      throw new Error(lineNumber === undefined ? message : `line ${lineNumber}: ${message}`, { cause: error });
    }
  },

  append: (text, path, item) => {
    const program = read(text);
    const list = find(program, path);
    if (list) return insertInto(text, list, printInline(item));
    const tables = tablesOf(program).filter(({ resolvedKey }) => startsWith(resolvedKey, path));
    const last = tables.findLast(({ kind }) => kind === "array");
    if (!last) return isTable(item) ? addList(text, program, path, item) : toml.set(text, path, [item]);
    return insertBlock(text, endOfTable(text, tables.at(-1) ?? last), `[[${printPath(path)}]]`, item as Fields);
  },

  set: (text, path, value) => {
    const program = read(text);
    const header = `[${printPath(path.slice(0, -1))}]`;
    return insertKey(text, program, path, value) ?? insertBlock(text, text.length, header, { [path.at(-1)!]: value });
  },
};

type Fields = { readonly [key: string]: Value };

const isTable = (value: Value): value is Fields => typeof value === "object" && !Array.isArray(value);

const read = (text: string): AST.TOMLProgram => parseTOML(text, OPTIONS);

const tablesOf = ({ body: [top] }: AST.TOMLProgram): AST.TOMLTable[] =>
  top.body.filter((node): node is AST.TOMLTable => node.type === "TOMLTable");

const keyOf = ({ keys }: AST.TOMLKey): string[] => keys.map((key) => (key.type === "TOMLBare" ? key.name : key.value));

const startsWith = (path: ReadonlyArray<string | number>, beginning: Path): boolean =>
  beginning.every((key, at) => path[at] === key);

/** Pairs of keys and values with their whole paths; those in a list of tables have none. */
function* pairsOf(program: AST.TOMLProgram): Generator<{ path: string[]; pair: AST.TOMLKeyValue; table: Table }> {
  const [top] = program.body;
  for (const table of [top, ...tablesOf(program)]) {
    const prefix = table.type === "TOMLTable" ? table.resolvedKey : [];
    if (prefix.some((key) => typeof key === "number")) continue;
    for (const pair of table.body)
      if (pair.type === "TOMLKeyValue") yield { path: [...(prefix as string[]), ...keyOf(pair.key)], pair, table };
  }
}

/** The value at a path, where it is written as one: not as tables with headers. */
function find(program: AST.TOMLProgram, path: Path): AST.TOMLContentNode | undefined {
  for (const { path: at, pair } of pairsOf(program))
    if (startsWith(path, at)) return findInside(pair.value, path.slice(at.length));
  return undefined;
}

function findInside(value: AST.TOMLContentNode, path: Path): AST.TOMLContentNode | undefined {
  if (path.length === 0) return value;
  if (value.type !== "TOMLInlineTable") return undefined;
  for (const pair of value.body) {
    const key = keyOf(pair.key);
    if (startsWith(path, key)) return findInside(pair.value, path.slice(key.length));
  }
  return undefined;
}

function insertInto(text: string, node: AST.TOMLContentNode, item: string): string {
  if (node.type === "TOMLValue") throw new Error(`line ${node.loc.start.line}: it is no list or table`);
  const items = (node.type === "TOMLArray" ? node.elements : node.body).map(({ range: [begin, end] }) => ({
    begin,
    end,
  }));
  const inside = { begin: node.range[0] + 1, end: node.range[1] - 1 };
  const isOneLine = node.type === "TOMLInlineTable";
  return insertItem(text, { inside, items, comments: "toml", step: "  ", isOneLine }, item);
}

/** Adds the first table of a list. */
function addList(text: string, program: AST.TOMLProgram, path: Path, item: Fields): string {
  const inValue = insertIntoValue(text, program, path, [item]) ?? insertBesideDotted(text, program, path, [item]);
  return inValue ?? insertBlock(text, text.length, `[[${printPath(path)}]]`, item);
}

/** Adds a key to a table that is there already. */
function insertKey(text: string, program: AST.TOMLProgram, path: Path, value: Value): string | undefined {
  const inValue = insertIntoValue(text, program, path, value) ?? insertBesideDotted(text, program, path, value);
  if (inValue !== undefined) return inValue;
  const [top] = program.body;
  const parent = path.slice(0, -1);
  const line = `${printPath(path.slice(-1))} = ${printInline(value)}`;
  if (parent.length === 0) {
    const last = top.body.findLast((node) => node.type === "TOMLKeyValue");
    return last ? insertLine(text, last.range[1], line) : `${line}${lineEndOf(text)}${text}`;
  }
  const table = tablesOf(program).find(
    ({ resolvedKey, kind }) =>
      kind === "standard" && resolvedKey.length === parent.length && startsWith(resolvedKey, parent),
  );
  return table && insertLine(text, table.body.at(-1)?.range[1] ?? endOfHeader(table), line);
}

/** Where a table on the way is an inline one, the addition goes into it. */
function insertIntoValue(text: string, program: AST.TOMLProgram, path: Path, value: Value): string | undefined {
  for (let depth = path.length - 1; depth > 0; depth--) {
    const holder = find(program, path.slice(0, depth));
    if (holder) return insertInto(text, holder, `${printPath(path.slice(depth))} = ${printInline(value)}`);
  }
  return undefined;
}

/** Where the table is written with dotted keys (`queues.producers = …`), the next key goes beside them: no header may name it. */
function insertBesideDotted(text: string, program: AST.TOMLProgram, path: Path, value: Value): string | undefined {
  const parent = path.slice(0, -1);
  for (const { path: at, pair, table } of [...pairsOf(program)].toReversed()) {
    const prefix = table.type === "TOMLTable" ? table.resolvedKey.length : 0;
    if (parent.length <= prefix || at.length <= parent.length || !startsWith(at, parent)) continue;
    return insertLine(text, pair.range[1], `${printPath(path.slice(prefix))} = ${printInline(value)}`);
  }
  return undefined;
}

function insertLine(text: string, behind: number, line: string): string {
  return insertAt(text, endOfLine(text, behind), `${lineEndOf(text)}${line}`);
}

/** Inserts a table with its header and an empty line in front. */
function insertBlock(text: string, at: number, header: string, fields: Fields): string {
  const lineEnd = lineEndOf(text);
  const lines = [
    header,
    ...Object.entries(fields).map(([key, value]) => `${printPath([key])} = ${printInline(value)}`),
  ];
  const before = text.slice(0, at).trimEnd();
  const gap = before === "" ? "" : lineEnd + lineEnd;
  const after = text.slice(at).replace(/^\s*$/, lineEnd);
  return before + gap + lines.join(lineEnd) + after;
}

const endOfHeader = (table: AST.TOMLTable): number => table.key.range[1];

/** Behind the last key of a table, and the comment on its line. */
const endOfTable = (text: string, table: AST.TOMLTable): number =>
  endOfLine(text, table.body.at(-1)?.range[1] ?? endOfHeader(table));

const printPath = (path: Path): string =>
  path.map((key) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key))).join(".");

function printInline(value: Value): string {
  if (Array.isArray(value)) return `[${value.map((item: Value) => printInline(item)).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, inner]) => `${printPath([key])} = ${printInline(inner)}`);
  return `{ ${entries.join(", ")} }`;
}
