// Writes the text of client.d.ts: the types of the protocol, those that derive from schemas printed out, and the client's own. So
// a user of client.js needs no other file. Called by build-client.ts.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

import * as z from "zod/mini";

import { DESCRIPTIONS } from "../src/protocol/schemas/described.ts";
import { boundsOf } from "../src/worker/api/json-schemas.ts";

const root = path.join(import.meta.dirname, "..");
const protocol = path.join(root, "src", "protocol");
const schemas = path.join(protocol, "schemas");
/** Files with the client's own types. */
const CLIENT = ["feature-events.ts", "api.ts"];
const failures = path.join(protocol, "failures.ts");

/** Helpers of the schemas, without types of messages. */
const FIELDS = "fields.ts";

/** `Given` is the type of a payload to send, with optional fields that have a default; `Sent` is the type that arrives. */
type Side = "Given" | "Sent";

type Schema = z.core.$ZodType;
type Named = Readonly<Record<string, unknown>>;

export async function clientTypes(): Promise<string> {
  const events = await readFile(path.join(protocol, "chat-events.ts"), "utf8");
  const used = new Set([...events.matchAll(/"\.\/schemas\/([\w-]+\.ts)"/g)].map(([, name]) => name!));
  const names = [...used].filter((name) => name !== FIELDS).sort();
  const modules: Named[] = await Promise.all(
    [...names.map((name) => path.join(schemas, name)), failures].map((file) => import(file) as Promise<Named>),
  );
  const described = await Promise.all(
    names.map(async (name) => typesIn(await readFile(path.join(schemas, name), "utf8"))),
  );
  const vocabulary = (await readdir(protocol)).filter((name) => name.endsWith("-events.ts")).sort();
  const files = [
    ...vocabulary.map((name) => path.join(protocol, name)),
    ...CLIENT.map((name) => path.join(root, "client", "core", name)),
  ];
  const written = await Promise.all(files.map(async (file) => withoutImports(await readFile(file, "utf8"))));
  return printed(
    [...described, typesIn(await readFile(failures, "utf8")), ...written].join("\n"),
    Object.assign({}, ...modules) as Named,
  );
}

const withoutImports = (text: string): string => text.replaceAll(/^(import type|export type (\*|\{)) ?[^;]*;\n/gm, "");

const namesOf = (text: string): string[] =>
  [...text.matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name]) => name!);

/**
 * The types that a module exports, each with its comment.
 * @throws Error if one has a form that is not found here
 */
export function typesIn(text: string): string {
  const statements = text.matchAll(
    /(?:^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?^export (?:type|interface) [\s\S]*?(?:;|^\})$(?=\n(?:\n|\/\*\*|export|$))/gm,
  );
  const types = [...statements].map(([statement]) => `${statement}\n`).join("\n");
  const lost = namesOf(text).filter((name) => !namesOf(types).includes(name));
  if (lost.length > 0) throw new Error(`client.d.ts: the form of ${lost.join(", ")} is not known`);
  return types;
}

/** Puts types in the place of schemas. */
function printed(text: string, all: Named): string {
  const named = new Map<unknown, string>();
  for (const [, name, schema] of text.matchAll(/^export type (\w+) = Sent<typeof (\w+)>;/gm))
    named.set(defOf(all[schema!]), name!);
  return text
    .replaceAll(/^(export type \w+ = )?(.*?)\b(Given|Sent)<typeof (\w+)>/gm, (_all, start = "", before, side, name) => {
      const isNameItself = start !== "" && before === "";
      return `${start}${before}${print(all[name] as Schema, { side: side as Side, named, isOpen: isNameItself })}`;
    })
    .replaceAll(/\bGiven<\(typeof (\w+)\)\[(\w+)\]>/g, (_all, name: string, key: string) => {
      const fields = Object.entries(all[name] as Readonly<Record<string, Schema>>).map(
        ([field, schema]) => `readonly "${field}": ${print(schema, { side: "Given", named })};`,
      );
      return `{ ${fields.join(" ")} }[${key}]`;
    })
    .replaceAll(/\(typeof (\w+)\)\[number\]/g, (_all, name: string) => literals(all[name] as readonly string[]))
    .replaceAll(/\bkeyof typeof (\w+)/g, (_all, name: string) => literals(Object.keys(all[name] as object)));
}

interface Printing {
  readonly side: Side;
  readonly named: ReadonlyMap<unknown, string>;
  /** Whether the type is printed though it has a name: where the name is given. */
  readonly isOpen?: boolean;
}

function print(schema: Schema, { isOpen = false, ...printing }: Printing): string {
  const def = defOf(schema);
  const name = printing.side === "Sent" && !isOpen ? printing.named.get(def) : undefined;
  if (name !== undefined) return name;
  const inner = (part: Schema): string => print(part, printing);
  switch (def.type) {
    case "object":
      return `{${Object.entries(def.shape)
        .map((field) => `\n${printField(field, printing)}`)
        .join("")
        .replaceAll("\n", "\n  ")}\n}`;
    case "array": {
      const { min, max } = boundsOf(schema);
      if (min === undefined || min !== max) return `ReadonlyArray<${inner(def.element)}>`;
      return `readonly [${Array.from({ length: min }, () => inner(def.element)).join(", ")}]`;
    }
    case "optional":
    case "default":
      return inner(def.innerType);
    case "nullable":
      return `${inner(def.innerType)} | null`;
    case "enum":
      return literals(Object.values(def.entries));
    case "literal":
      return literals(def.values);
    case "string":
    case "number":
    case "boolean":
      return def.type;
    default:
      throw new Error(`client.d.ts: no type is known for a schema of ${def.type}`);
  }
}

function printField([name, schema]: [string, Schema], printing: Printing): string {
  const { type } = defOf(schema);
  const isLeftOut = type === "optional" || (type === "default" && printing.side === "Given");
  const isUndefined = isLeftOut && !(schema instanceof z.core.$ZodExactOptional);
  const { description } = DESCRIPTIONS.get(schema) ?? {};
  const comment = description === undefined ? "" : `/** ${description}. */\n`;
  return `${comment}readonly ${name}${isLeftOut ? "?" : ""}: ${print(schema, printing)}${isUndefined ? " | undefined" : ""};`;
}

const literals = (values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join(" | ");

/** A copy of a schema with another description has the same definition. */
const defOf = (schema: unknown): z.core.$ZodTypes["_zod"]["def"] => (schema as z.core.$ZodTypes)._zod.def;
