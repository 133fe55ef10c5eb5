// Adds the chat, or a Socket.IO application, to a Worker that is there already: bindings and migrations into its configuration, the dependency
// into package.json, the application's own file, and the export into the entry file. All is prepared before anything is written. Called by
// main.ts.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { Refusal } from "../refusal.ts";
import { PACKAGE, RANGE } from "../version.ts";
import { applicationFile, applicationLines, BOARD, moduleOf } from "./application.ts";
import { readConfig, withChanges } from "./config-file.ts";
import { exportOf, foreignClass, hasExport, linesToAdd, withExport } from "./entry-file.ts";
import { dependsOn, withDependency } from "./manifest.ts";
import { planFor, type Plan, type Wish } from "./plan.ts";

export interface ExistingWish extends Omit<Wish, "only"> {
  readonly folder: string;
  readonly gets: "chat" | "socketio";
  /** Where its addresses begin; empty at the root. */
  readonly basePath: string;
  readonly isDryRun: boolean;
}

export interface Added {
  /** For the reader. */
  readonly lines: readonly string[];
  readonly isWritten: boolean;
}

/** @throws Refusal, and nothing was written then */
export function addToWorker({ folder, gets, basePath, isDryRun, ...wish }: ExistingWish): Added {
  const configFile = readConfig(folder);
  const plan = planFor(configFile.config, { ...wish, ...(gets === "socketio" && { only: BOARD }) });
  const main = mainOf(configFile.config, wish.environment);
  const files = [
    configChange(configFile, plan),
    manifestChange(folder),
    ...(gets === "socketio" ? [applicationChange(path.join(folder, main))] : []),
    entryChange(folder, main, plan.classes, gets === "socketio" ? moduleOf(main) : PACKAGE),
  ];
  const changed = files.filter(({ text }) => text !== undefined);
  const isWritten = changed.length > 0 && !isDryRun;
  if (isWritten) for (const { file, text } of changed) writeFileSync(file, text!);
  const lines = [
    ...files.flatMap(({ file, says }) => says.map((line) => `${path.relative(folder, file) || file}: ${line}`)),
    ...(changed.length === 0 ? ["Everything is there already; nothing was changed."] : []),
    ...(isDryRun && changed.length > 0 ? ["Nothing was written: --dry-run."] : []),
    ...plan.notes,
    ...(plan.commands.length > 0
      ? ["", "Once, before the first deployment:", ...plan.commands.map((line) => `  npx ${line}`)]
      : []),
    ...todo({ entry: files.at(-1)!.file, main, folder, gets, basePath }),
  ];
  return { lines, isWritten };
}

interface FileChange {
  readonly file: string;
  /** The new text; `undefined` where the file stays as it is. */
  readonly text?: string;
  readonly says: readonly string[];
}

function configChange(configFile: ReturnType<typeof readConfig>, { changes }: Plan): FileChange {
  const { file } = configFile;
  if (changes.length === 0) return { file, says: [] };
  return { file, text: withChanges(configFile, changes), says: changes.map(({ says }) => `added ${says}`) };
}

function manifestChange(folder: string): FileChange {
  const file = path.join(folder, "package.json");
  if (!existsSync(file))
    return { file, says: [`missing; install ${PACKAGE}@${RANGE} where the Worker's packages are`] };
  const text = readFileSync(file, "utf8");
  try {
    if (dependsOn(text, PACKAGE)) return { file, says: [] };
    return { file, text: withDependency(text, PACKAGE, RANGE), says: [`added the dependency ${PACKAGE} ${RANGE}`] };
  } catch (error) {
    throw new Refusal(`${file} cannot be read: ${(error as Error).message}. Nothing was changed.`);
  }
}

const mainOf = (
  { main, env }: { main?: string; env?: Readonly<Record<string, { main?: string }>> },
  environment?: string,
): string => (environment === undefined ? undefined : env?.[environment]?.main) ?? main ?? "";

function applicationChange(main: string): FileChange {
  const { file, text } = applicationFile(main);
  return text === undefined ? { file, says: [] } : { file, text, says: [`new; it has the class ${BOARD.className}`] };
}

function entryChange(folder: string, main: string, classes: readonly string[], from: string): FileChange {
  const file = path.join(folder, main);
  if (!existsSync(file)) return { file, says: [`not there yet; it has to have: ${exportOf(classes, from)}`] };
  const text = readFileSync(file, "utf8");
  const foreign = foreignClass(text, classes);
  if (foreign !== undefined)
    throw new Refusal(
      `${file} has a class ${foreign} of its own, and ${from} has one of that name. Nothing was changed. Rename yours (a deployed class by a ` +
        `migration with renamed_classes)${from === PACKAGE ? `, or let it extend the class ${foreign} of ${PACKAGE}` : ""}.`,
    );
  if (hasExport(text, classes)) return { file, says: [] };
  const changed = withExport(main.replaceAll("\\", "/"), text, classes, from);
  if (changed === undefined) return { file, says: [`add by hand: ${exportOf(classes, from)}`] };
  return { file, text: changed, says: [`added ${exportOf(classes, from)}`] };
}

interface Todo extends Pick<ExistingWish, "folder" | "gets" | "basePath"> {
  readonly entry: string;
  readonly main: string;
}

function todo({ entry, main, folder, gets, basePath }: Todo): string[] {
  const used = gets === "chat" ? "createParley" : "parley-rooms/socketio";
  if (existsSync(entry) && readFileSync(entry, "utf8").includes(used)) return [];
  const manifest = path.join(folder, "package.json");
  const isHono = existsSync(manifest) && dependsOn(readFileSync(manifest, "utf8"), "hono");
  const lines = gets === "chat" ? linesToAdd : applicationLines;
  return [
    "",
    `Add to ${main === "" ? "the entry file" : main}:`,
    "",
    ...lines({ basePath, isHono }).map((line) => (line === "" ? "" : `  ${line}`)),
  ];
}
