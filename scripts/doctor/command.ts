// `npx parley-rooms doctor`: prints the problems of a project. Called by command/main.ts.
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs, styleText } from "node:util";

import { checkBindings } from "./bindings.ts";
import { readFacts, Unreadable } from "./facts.ts";
import { error, LEVELS, type Finding, type Level } from "./finding.ts";
import { examineLive } from "./live.ts";
import { checkRuntime } from "./runtime.ts";
import { checkSettings } from "./settings.ts";

const HELP = `Usage: npx parley-rooms doctor [FOLDER] [OPTIONS]

Names what the Worker in FOLDER (default: here) lacks for a deployment with parley-rooms: bindings, classes, queues, keys, bad and unsafe settings,
versions that do not fit. It reads the Wrangler configuration, .dev.vars and the installed packages, not your code, and changes nothing.

  --env NAME   the environment of the configuration (default: the top level)
  --url URL    asks a deployment, too: its health, and a handshake
  --json       prints the findings as JSON
  --help, -h   shows this

It ends with 1 if there are errors, otherwise with 0.
`;

const SIGNS: Readonly<Record<Level, Parameters<typeof styleText>[0]>> = {
  error: "red",
  warning: "yellow",
  note: "dim",
};

/** @returns the exit code. @throws TypeError of parseArgs for an unknown option */
export async function doctor(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      env: { type: "string", short: "e" },
      url: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const [folder = ".", ...others] = positionals;
  if (values.help) return print(HELP, 0);
  if (others.length > 0) throw new TypeError(`There is one folder, not ${positionals.length}.`);
  const findings = [
    ...(await examine(path.resolve(folder), values.env)),
    ...(values.url === undefined ? [] : await examineLive(values.url, versionHere())),
  ];
  const isBad = findings.some(({ level }) => level === "error");
  return print(
    values.json ? `${JSON.stringify({ ok: !isBad, findings }, undefined, 2)}\n` : textOf(findings),
    isBad ? 1 : 0,
  );
}

/** @returns the worst first */
export async function examine(folder: string, environment?: string): Promise<Finding[]> {
  try {
    const facts = await readFacts(folder, environment);
    const findings = [checkRuntime, checkBindings, checkSettings].flatMap((check) => check(facts));
    return findings.toSorted((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level));
  } catch (problem) {
    if (problem instanceof Unreadable) return [error("project.unreadable", problem.message)];
    throw problem;
  }
}

function print(text: string, status: number): number {
  process.stdout.write(text);
  return status;
}

function textOf(findings: readonly Finding[]): string {
  const lines = findings.map(({ level, message, remedy }) => {
    const head = `${styleText(SIGNS[level], level.padEnd(8))}${message}`;
    return remedy === undefined ? head : `${head}\n${" ".repeat(8)}${remedy}`;
  });
  const count = (wanted: Level): string => {
    const { length } = findings.filter(({ level }) => level === wanted);
    return `${length} ${wanted}${length === 1 ? "" : "s"}`;
  };
  return `${[...lines, LEVELS.map(count).join(", ")].join("\n")}\n`;
}

/** The package's own; the bundle is in dist/bin, the source in scripts/doctor. */
function versionHere(): string {
  return (JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string })
    .version;
}
