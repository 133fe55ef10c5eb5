// `npm create parley` into configurations of random form: all that is in them stays, in order, with its comments.
import { expect, it } from "vitest";

import { withChanges } from "../../../scripts/create-parley/existing/config-file.ts";
import { planFor, type Config } from "../../../scripts/create-parley/existing/plan.ts";
import { fc, runs } from "../../host/properties.ts";
import { read } from "./existing-worker.ts";

const binding = fc.record({
  name: fc.constantFrom("COUNTER", "CACHE"),
  class_name: fc.constantFrom("Counter", "Cache"),
});
const migration = fc.record({ tag: fc.constantFrom("v1", "first"), new_sqlite_classes: fc.constant(["Counter"]) });

/** How a part of a file is written. */
const style = fc.record({
  isInline: fc.boolean(),
  isDotted: fc.boolean(),
  isMultiline: fc.boolean(),
  hasTrailingComma: fc.boolean(),
  comment: fc.constantFrom("", " it counts", " }]"),
});
type Style = typeof style extends fc.Arbitrary<infer Value> ? Value : never;

const config = fc.record({
  flags: fc.option(fc.subarray(["nodejs_compat", "no_web_socket_compression"]), { nil: undefined }),
  bindings: fc.option(fc.array(binding, { maxLength: 2 }), { nil: undefined }),
  migrations: fc.option(fc.array(migration, { minLength: 1, maxLength: 2 }), { nil: undefined }),
  producers: fc.option(fc.constant([{ binding: "LETTERS", queue: "letters" }]), { nil: undefined }),
  hasVars: fc.boolean(),
  isWindows: fc.boolean(),
  styles: fc.array(style, { minLength: 6, maxLength: 6 }),
});
type Given = typeof config extends fc.Arbitrary<infer Value> ? Value : never;

const inlineTable = (fields: object): string =>
  `{ ${Object.entries(fields)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join(", ")} }`;

function array(items: readonly string[], { isMultiline, hasTrailingComma, comment }: Style, mark: string): string {
  const note = comment && isMultiline ? ` ${mark}${comment}` : "";
  if (!isMultiline || items.length === 0)
    return `[${items.join(", ")}${hasTrailingComma && items.length > 0 ? "," : ""}]`;
  const lines = items.map((item, at) => `  ${item}${at < items.length - 1 || hasTrailingComma ? "," : ""}${note}`);
  return `[\n${lines.join("\n")}\n]`;
}

/** A list of tables below `path`, in one of the forms of TOML. @returns lines of the top level, and tables behind them */
function tomlList(
  path: readonly string[],
  items: readonly object[] | undefined,
  style: Style,
): [top: string[], tables: string[]] {
  if (!items) return [[], []];
  const note = style.comment === "" ? "" : ` #${style.comment}`;
  const list = array(items.map(inlineTable), style, "#");
  const [outer, inner] = path as [string, string?];
  if (!style.isInline && items.length > 0)
    return [
      [],
      items.map(
        (item) =>
          `[[${path.join(".")}]]${note}\n${Object.entries(item)
            .map(([key, value]) => `${key} = ${JSON.stringify(value)}${note}`)
            .join("\n")}`,
      ),
    ];
  if (inner === undefined) return [[`${outer} = ${list}${note}`], []];
  if (style.isDotted) return [[`${outer}.${inner} = ${list}${note}`], []];
  return style.isMultiline
    ? [[], [`[${outer}]${note}\n${inner} = ${list}${note}`]]
    : [[`${outer} = { ${inner} = ${list} }${note}`], []];
}

function toml({ flags, bindings, migrations, producers, hasVars, isWindows, styles }: Given): string {
  const lists = [
    tomlList(["durable_objects", "bindings"], bindings, styles[0]!),
    tomlList(["migrations"], migrations, styles[1]!),
    tomlList(["queues", "producers"], producers, styles[2]!),
  ];
  const lines = [
    'name = "mine" # the name',
    'main = "src/index.ts"',
    ...(flags
      ? [
          `compatibility_flags = ${array(
            flags.map((flag) => JSON.stringify(flag)),
            styles[3]!,
            "#",
          )}`,
        ]
      : []),
    ...lists.flatMap(([top]) => top),
    ...(hasVars ? ["\n[vars] # settings\nCOLOR = 'teal'"] : []),
    ...lists.flatMap(([, tables]) => tables.map((table) => `\n# next\n${table}`)),
  ];
  return lines.join("\n").replaceAll("\n", isWindows ? "\r\n" : "\n");
}

function jsonc({ flags, bindings, migrations, producers, hasVars, isWindows, styles }: Given): string {
  const list = (items: readonly unknown[], at: number): string =>
    array(
      items.map((item) => JSON.stringify(item)),
      styles[at]!,
      "//",
    );
  const { comment, hasTrailingComma } = styles[4]!;
  const members = [
    '"name": "mine"',
    '"main": "src/index.ts"',
    ...(flags ? [`"compatibility_flags": ${list(flags, 3)}`] : []),
    ...(bindings ? [`"durable_objects": { "bindings": ${list(bindings, 0)} }`] : []),
    ...(migrations ? [`"migrations": ${list(migrations, 1)}`] : []),
    ...(producers ? [`"queues": { "producers": ${list(producers, 2)} /* ours */ }`] : []),
    ...(hasVars ? ['"vars": { "COLOR": "teal" }'] : []),
  ];
  const lines = members.map(
    (member, at) => `\t${member}${at < members.length - 1 || hasTrailingComma ? "," : ""} //${comment}`,
  );
  return `{\n${lines.join("\n")}\n}\n`.replaceAll("\n", isWindows ? "\r\n" : "\n");
}

/** Whether the one text became the other by nothing but insertions; empty lines at its end may go. */
function isInserted(text: string, after: string): boolean {
  const letters = text.trimEnd();
  let at = 0;
  for (const letter of after) if (letter === letters[at]) at += 1;
  return at === letters.length;
}

const commentsIn = (text: string): string[] => text.match(/(?:#|\/\/).*/g) ?? [];

it.each([
  ["wrangler.toml", toml],
  ["wrangler.jsonc", jsonc],
])("%s", (file, write) => {
  fc.assert(
    fc.property(config, (given) => {
      const text = write(given);
      const before: Config = read(file, text);
      const { changes } = planFor(before, { extras: ["lobby", "files", "announcements", "relay", "webhooks"] });
      const after = withChanges({ file, text, config: before }, changes);
      expect(isInserted(text, after)).toBe(true);
      expect(commentsIn(after)).toEqual(commentsIn(text));
      expect(
        planFor(read(file, after), { extras: ["lobby", "files", "announcements", "relay", "webhooks"] }).changes,
      ).toEqual([]);
    }),
    runs(400),
  );
});
