// Reads the options of createParley, and the `static bindings` of rooms, from the code of a Worker, as far as they are literals. Called by
// checks/options.ts.
import { parse, type AnyNode, type Property } from "acorn";

import type { Entry } from "./entry.ts";
import { roomClasses } from "./uses.ts";

/** A value that only the running code knows. */
export const COMPUTED = Symbol("computed");

export type Fields = Readonly<Record<string, unknown>>;

export interface Literals {
  /** The options of each createParley, without those that a spread brings. */
  readonly options: readonly Fields[];
  /** The `static bindings` of each class that extends one of the package. */
  readonly bindings: readonly Fields[];
}

export function readLiterals(entry: Entry): Literals {
  const nodes = nodesIn(entry.text);
  const constants = constantsIn(nodes);
  const creating = new Set(
    nodes.flatMap((node) =>
      node.type === "ImportDeclaration" && node.source.value === "parley-rooms"
        ? node.specifiers.filter(isCreateParley).map(({ local }) => local.name)
        : [],
    ),
  );
  const rooms = roomClasses(entry);
  const found = { options: [] as Fields[], bindings: [] as Fields[] };
  for (const node of nodes) {
    if (node.type === "CallExpression" && node.callee.type === "Identifier" && creating.has(node.callee.name))
      add(found.options, node.arguments[0]);
    if (node.type !== "ClassDeclaration" && node.type !== "ClassExpression") continue;
    if (node.superClass?.type !== "Identifier" || !rooms.has(node.superClass.name)) continue;
    for (const member of node.body.body)
      if (member.type === "PropertyDefinition" && member.static && nameOf(member.key) === "bindings")
        add(found.bindings, member.value);
  }
  return found;

  function add(list: Fields[], node: AnyNode | null | undefined): void {
    const value = node ? valueOf(node, constants) : undefined;
    if (typeof value === "object" && value !== null) list.push(value as Fields);
  }
}

/** The values that are given names at the top of the code, and never others. */
function constantsIn(nodes: readonly AnyNode[]): ReadonlyMap<string, AnyNode> {
  const constants = new Map<string, AnyNode>();
  const [program] = nodes;
  for (const statement of program?.type === "Program" ? program.body : [])
    for (const { id, init } of statement.type === "VariableDeclaration" ? statement.declarations : [])
      if (id.type === "Identifier" && init) constants.set(id.name, init);
  for (const node of nodes)
    if (node.type === "AssignmentExpression" && node.left.type === "Identifier") constants.delete(node.left.name);
  return constants;
}

const isCreateParley = (specifier: AnyNode): boolean =>
  specifier.type === "ImportSpecifier" && nameOf(specifier.imported) === "createParley";

/** All nodes of the code; none where it is newer than this parser. */
function nodesIn(code: string): AnyNode[] {
  try {
    return below(parse(code, { ecmaVersion: "latest", sourceType: "module" }));
  } catch {
    return [];
  }
}

function below(node: unknown): AnyNode[] {
  if (Array.isArray(node)) return node.flatMap(below);
  if (typeof node !== "object" || node === null || !("type" in node)) return [];
  return [node as AnyNode, ...Object.values(node).flatMap(below)];
}

function valueOf(node: AnyNode, constants: ReadonlyMap<string, AnyNode>): unknown {
  switch (node.type) {
    case "Literal":
      return node.value;
    case "ArrowFunctionExpression":
    case "FunctionExpression":
      return () => COMPUTED;
    case "ArrayExpression":
      return node.elements.map((element) => (element ? valueOf(element, constants) : undefined));
    case "ObjectExpression":
      return Object.fromEntries(
        node.properties
          .filter((property): property is Property => property.type === "Property" && !property.computed)
          .map(({ key, value }) => [nameOf(key), valueOf(value, constants)]),
      );
    case "Identifier": {
      const init = constants.get(node.name);
      // A constant that names itself again would never end.
      const others = new Map([...constants].filter(([name]) => name !== node.name));
      return init ? valueOf(init, others) : COMPUTED;
    }
    default:
      return COMPUTED;
  }
}

const nameOf = (key: AnyNode): string =>
  key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : "";
