// Adds the chat's needs to a Wrangler configuration. Called by add-to-worker.ts. Each insertion is read again and compared with the plan; where they
// differ nothing is written.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";

import { Refusal } from "../refusal.ts";
import type { ConfigFormat, Value } from "./config-format.ts";
import { jsonc } from "./jsonc.ts";
import type { Change, Config } from "./plan.ts";
import { toml } from "./toml.ts";

/** In the order in which Wrangler looks for them. */
const NAMES = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

export interface ConfigFile {
  readonly file: string;
  readonly text: string;
  readonly config: Config;
}

/** The name of the configuration in a folder, if there is one. */
export const configNameIn = (folder: string): string | undefined =>
  NAMES.find((name) => existsSync(path.join(folder, name)));

/** @throws Refusal where there is none, or one that cannot be read */
export function readConfig(folder: string): ConfigFile {
  const name = configNameIn(folder);
  if (name === undefined) throw new Refusal(`There is no ${NAMES.toReversed().join(", ")} in ${folder}.`);
  const file = path.join(folder, name);
  const text = readFileSync(file, "utf8");
  try {
    return { file, text, config: formatOf(file).parse(withoutMark(text)) };
  } catch (error) {
    throw new Refusal(`${file} cannot be read: ${(error as Error).message}. Nothing was changed.`);
  }
}

/** @throws Refusal that lists the lines to add by hand, where it cannot add them safely */
export function withChanges({ file, text, config }: ConfigFile, changes: readonly Change[]): string {
  const format = formatOf(file);
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  try {
    const changed = changes.reduce((so, { kind, path: at, value }) => format[kind](so, at, value), withoutMark(text));
    if (isDeepStrictEqual(plain(format.parse(changed)), expected(config, changes))) return mark + changed;
  } catch {
    // Treated as an insertion that reads differently: by hand.
  }
  const lines = changes.map(
    ({ path: at, kind, value }) => `  ${at.join(".")}${kind === "append" ? "[]" : ""} = ${JSON.stringify(value)}`,
  );
  throw new Refusal(
    `${file} is written in a form that cannot be added to safely. Nothing was changed. Add by hand:\n${lines.join("\n")}`,
  );
}

const BYTE_ORDER_MARK = "\uFEFF";

const withoutMark = (text: string): string => (text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);

const formatOf = (file: string): ConfigFormat => (file.endsWith(".toml") ? toml : jsonc);

/** Without the prototypes and dates of a parser. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function expected(config: Config, changes: readonly Change[]): unknown {
  const whole = plain(config) as Record<string, unknown>;
  for (const { kind, path: at, value } of changes) {
    let holder = whole;
    for (const key of at.slice(0, -1)) holder = (holder[key] ??= {}) as Record<string, unknown>;
    const key = at.at(-1)!;
    holder[key] = kind === "append" ? [...((holder[key] as Value[] | undefined) ?? []), value] : value;
  }
  return plain(whole);
}
