#!/usr/bin/env node
// `npm create parley`: makes a project, or adds the chat or a Socket.IO application to one. npm runs this as the bin of create-parley.
import path from "node:path";

import { HELP, nameFrom, readArguments, type Arguments, type Kind } from "./arguments.ts";
import { addToWorker } from "./existing/add-to-worker.ts";
import { configNameIn } from "./existing/config-file.ts";
import { checkFolder, makeProject } from "./new-project.ts";
import { askBasePath, askEnvironment, askExtras, askFolder, askKind, askName, askRepository } from "./questions.ts";
import { Refusal } from "./refusal.ts";
import { remoteOf } from "./repository.ts";
import { VERSION } from "./version.ts";

try {
  await run(readArguments(process.argv.slice(2)));
} catch (error) {
  // A file that cannot be written, for example, is a reason as well.
  const isReason = error instanceof Refusal || (error instanceof Error && "syscall" in error);
  if (!isReason) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function run(given: Arguments): Promise<void> {
  if (given.isHelp) return void process.stdout.write(HELP);
  if (given.isVersion) return console.log(VERSION);
  const kind = given.kind ?? (await chosenKind(given));
  if (kind === "existing") return addTo(given, "chat");
  const isInto = kind === "socketio" && configNameIn(given.folder ?? ".") !== undefined;
  await (isInto ? addTo(given, "socketio") : begin(given, kind));
}

/** Questions need a terminal; a script gives flags, or takes the defaults. */
function asks({ isYes }: Arguments, flag: string): boolean {
  if (isYes) return false;
  if (process.stdin.isTTY && process.stdout.isTTY) return true;
  throw new Refusal(`There is no terminal to ask at. Give ${flag}, or --yes for the defaults.`);
}

function chosenKind(given: Arguments): Promise<Kind> | Kind {
  const initial = configNameIn(given.folder ?? ".") === undefined ? "chat" : "existing";
  return asks(given, "--template chat, socketio or existing") ? askKind(initial) : initial;
}

async function addTo(given: Arguments, gets: "chat" | "socketio"): Promise<void> {
  const folder = path.resolve(given.folder ?? ".");
  const isAsking = given.extras === undefined && !given.isYes && process.stdin.isTTY && process.stdout.isTTY;
  const environment = given.environment ?? (isAsking ? await askEnvironment(folder) : undefined);
  const usualPath = gets === "chat" ? "/chat" : "/board";
  const { lines, isWritten } = addToWorker({
    folder,
    gets,
    ...(environment !== undefined && { environment }),
    extras: given.extras ?? (isAsking && gets === "chat" ? await askExtras() : ["lobby"]),
    basePath: given.basePath ?? (isAsking ? await askBasePath(usualPath) : usualPath),
    isDryRun: given.isDryRun,
  });
  const next = ["", "Then:", `  ${packageManager()} install`, "  npx parley-rooms doctor", ""];
  console.log([...lines, ...(isWritten ? next : [])].join("\n"));
}

async function begin(given: Arguments, template: "chat" | "socketio"): Promise<void> {
  const initial = template === "chat" ? "my-chat" : "my-app";
  const chosen = given.folder ?? (asks(given, "a folder") ? await askFolder(initial) : initial);
  const folder = path.resolve(chosen);
  checkFolder(folder);
  const isAsking = given.folder === undefined && given.name === undefined && !given.isYes;
  const name = given.name ?? (isAsking ? await askName(path.basename(folder)) : nameFrom(path.basename(folder)));
  const remote = remoteOf(folder);
  const repository = given.repository ?? (isAsking ? await askRepository(remote) : remote);
  makeProject({ folder, template, name, repository });
  const manager = packageManager();
  const enter = path.relative(process.cwd(), folder);
  const quoted = /[^\w./-]/.test(enter) ? JSON.stringify(enter) : enter;
  const steps = [
    ...(enter === "" ? [] : [`cd ${quoted}`]),
    `${manager} install`,
    `${manager} run dev        # on http://localhost:8787`,
    `${manager} test`,
    `${manager} run deploy     # README.md lists the settings`,
  ];
  console.log(`${name} is in ${folder}. Next:\n\n${steps.map((step) => `  ${step}`).join("\n")}\n`);
}

/** The one that runs this: npm, pnpm, yarn or bun. */
function packageManager(): string {
  return /^(pnpm|yarn|bun)\//.exec(process.env["npm_config_user_agent"] ?? "")?.[1] ?? "npm";
}
