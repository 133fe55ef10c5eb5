// Adds the chat, or a Socket.IO application, to a Worker that is there already: bindings and migrations into its configuration, the dependency
// into package.json, the application's own file, and the export into the entry file. All is prepared before anything is written. Called by
// main.ts.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { usesChat, usesConnect } from "../../doctor/uses.ts";
import { Refusal } from "../refusal.ts";
import { PACKAGE, RANGE } from "../version.ts";
import { applicationFile, applicationLines, BOARD, moduleOf } from "./application.ts";
import { readConfig, withChanges } from "./config-file.ts";
import {
  exportOf,
  foreignClass,
  missingIn,
  readEntryFile,
  unreadStars,
  withExport,
  type EntryFile,
} from "./entry-file.ts";
import { chatLines, queueLines, styleOf } from "./lines-to-add.ts";
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
  const entry = existsSync(path.join(folder, main)) ? readEntryFile(folder, main) : undefined;
  const files = [
    configChange(configFile, plan),
    manifestChange(folder),
    ...(gets === "socketio" ? [applicationChange(path.join(folder, main))] : []),
    entryChange(path.join(folder, main), entry, plan.classes, gets === "socketio" ? moduleOf(main) : PACKAGE),
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
    ...todo({ entry, main, folder, gets, basePath, hasQueues: plan.hasQueues }),
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

function entryChange(file: string, entry: EntryFile | undefined, classes: readonly string[], from: string): FileChange {
  if (!entry) return { file, says: [`not there yet; it has to have: ${exportOf(classes, from)}`] };
  const foreign = foreignClass(entry, classes);
  if (foreign !== undefined)
    throw new Refusal(
      `${file} has a class ${foreign} of its own, and ${from} has one of that name. Nothing was changed. Rename yours (a deployed class by a ` +
        `migration with renamed_classes)${from === PACKAGE ? `, or let it extend the class ${foreign} of ${PACKAGE}` : ""}.`,
    );
  const missing = missingIn(entry, classes, from);
  if (missing.length === 0) return { file, says: [] };
  const added = exportOf(missing, from);
  const text = withExport(entry, missing, from);
  if (text !== undefined) return { file, text, says: [`added ${added}`] };
  const stars = unreadStars(entry);
  const unless = stars.length === 0 ? "" : `, except for classes that ${stars.join(", ")} has, which this would hide`;
  return { file, says: [`add by hand${unless}: ${added}`] };
}

interface Todo extends Pick<ExistingWish, "folder" | "gets" | "basePath"> {
  readonly entry: EntryFile | undefined;
  readonly main: string;
  readonly hasQueues: boolean;
}

function todo({ entry, main, folder, gets, basePath, hasQueues }: Todo): string[] {
  const isUsed = entry !== undefined && (gets === "chat" ? usesChat : usesConnect)(entry.entry);
  const manifest = path.join(folder, "package.json");
  const isHono = existsSync(manifest) && dependsOn(readFileSync(manifest, "utf8"), "hono");
  const style = styleOf(entry, isHono);
  const use = isUsed ? [] : (gets === "chat" ? chatLines : applicationLines)(basePath, style);
  const queues = hasQueues ? queueLines(entry, style) : [];
  const lines = [...use, ...(use.length > 0 && queues.length > 0 ? [""] : []), ...queues];
  if (lines.length === 0) return [];
  return [
    "",
    `Add to ${main === "" ? "the entry file" : main}:`,
    "",
    ...lines.map((line) => (line === "" ? "" : `  ${line}`)),
  ];
}
