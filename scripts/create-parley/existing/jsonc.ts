// wrangler.jsonc and wrangler.json: JSON with comments and commas at the end. Called by config-file.ts; package.json goes the same way.
import { findNodeAtLocation, parse, parseTree, printParseErrorCode, type Node, type ParseError } from "jsonc-parser";

import { insertItem } from "./bracketed.ts";
import { indentAt, lineEndOf, type ConfigFormat, type Path, type Value } from "./config-format.ts";

const OPTIONS = { allowTrailingComma: true };

export const jsonc: ConfigFormat = {
  parse: (text) => {
    const errors: ParseError[] = [];
    const value: unknown = parse(text, errors, OPTIONS);
    const [error] = errors;
    if (error) throw new Error(`line ${lineOf(text, error.offset)}: ${printParseErrorCode(error.error)}`);
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("it is no object");
    return value as Record<string, unknown>;
  },

  append: (text, path, item) => {
    const list = findNodeAtLocation(rootOf(text), [...path]);
    return list ? insertInto(text, list, () => printInLine(item)) : jsonc.set(text, path, [item]);
  },

  set: (text, path, value) => {
    const root = rootOf(text);
    const depth = deepest(root, path);
    const holder = findNodeAtLocation(root, path.slice(0, depth))!;
    const [key, ...deeper] = path.slice(depth) as [string, ...string[]];
    const nested = deeper.reduceRight<Value>((inner, name) => ({ [name]: inner }), value);
    return insertInto(
      text,
      holder,
      (step, indent) => `${JSON.stringify(key)}: ${print(nested, step, indent, lineEndOf(text))}`,
    );
  },
};

const rootOf = (text: string): Node => parseTree(text, [], OPTIONS)!;

/** How many keys of a path the file has already. */
function deepest(root: Node, path: Path): number {
  const found = path.map((_key, at) => findNodeAtLocation(root, path.slice(0, at + 1)) !== undefined);
  const missing = found.indexOf(false);
  return missing < 0 ? path.length - 1 : missing;
}

function insertInto(text: string, node: Node, itemOf: (step: string, indent: string) => string): string {
  const { type, offset, length, children = [] } = node;
  if (type !== "array" && type !== "object") throw new Error(`line ${lineOf(text, offset)}: it is a ${type}`);
  const items = children.map((child) => ({ begin: child.offset, end: child.offset + child.length }));
  const inside = { begin: offset + 1, end: offset + length - 1 };
  const step = stepOf(text);
  const isInLine = !text.slice(offset, offset + length).includes("\n");
  const indent = indentAt(text, inside.end) + step;
  return insertItem(text, { inside, items, comments: "jsonc", step }, itemOf(isInLine ? "" : step, indent));
}

/** A binding is a line; a list of bindings has a line for each. In a file of one line all is in that. */
function print(value: Value, step: string, indent: string, lineEnd: string): string {
  if (step === "" || typeof value !== "object" || isBinding(value)) return printInLine(value);
  const inner = indent + step;
  const printInner = (of: Value): string => print(of, step, inner, lineEnd);
  const parts = isList(value)
    ? value.map(printInner)
    : Object.entries(value).map(([key, of]) => `${JSON.stringify(key)}: ${printInner(of)}`);
  const [open, close] = isList(value) ? ["[", "]"] : ["{", "}"];
  return `${open}${lineEnd}${parts.map((part) => inner + part).join(`,${lineEnd}`)}${lineEnd}${indent}${close}`;
}

const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

/** Whether a list holds texts only, or an object nothing deeper than such lists. */
function isBinding(value: Value): boolean {
  const isText = (inner: Value): boolean => typeof inner !== "object";
  if (typeof value !== "object") return false;
  if (isList(value)) return value.every(isText);
  return Object.values(value).every((inner) => isText(inner) || (isList(inner) && inner.every(isText)));
}

function printInLine(value: Value): string {
  if (Array.isArray(value)) return `[${value.map((item: Value) => printInLine(item)).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${printInLine(inner)}`);
  return `{ ${entries.join(", ")} }`;
}

/** The indentation of the first line that has one. */
const stepOf = (text: string): string => /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;
