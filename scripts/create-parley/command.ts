// `npm create parley`: makes a project, or prints the lines that add the chat or a Socket.IO application to one. Called by main.ts.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { HELP, nameFrom, readArguments, TEMPLATE_OF, type Arguments, type Kind } from "./arguments.ts";
import { linesFor } from "./lines.ts";
import { checkFolder, makeProject, Refusal, remoteOf, TO_INSTALL, VERSION, type Template } from "./new-project.ts";
import { askExtras, askFolder, askForm, askKind, askName, askRepository } from "./questions.ts";

/** The clients of a server that stays as it is look for it at the root. */
const BASE_PATHS: Readonly<Record<Template, string>> = { chat: "/chat", socketio: "/board", engine: "" };

/** In the order in which Wrangler looks for them. */
const CONFIGURATIONS = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/** In JSON and in TOML, outside a comment. */
const MIGRATIONS = /^(?!\s*(?:#|\/\/)).*\bmigrations\b"?\s*(?:[:=]|\]\])/m;

/** @throws Refusal, or the error of a file that cannot be written */
export async function create(args: readonly string[]): Promise<void> {
  const given = readArguments(args);
  if (given.isHelp) return print(HELP);
  if (given.isVersion) return print(`${VERSION}\n`);
  const configuration = CONFIGURATIONS.find((name) => existsSync(path.resolve(given.folder ?? ".", name)));
  const kind = given.kind ?? (await chosenKind(given, configuration === undefined ? "chat" : "existing"));
  if (kind === "existing") return printLines(given, "chat", configuration);
  if (kind === "chat") return begin(given, kind);
  const template = TEMPLATE_OF[given.form ?? (canAsk(given) ? await askForm("classes") : "classes")];
  await (configuration === undefined ? begin(given, template) : printLines(given, template, configuration));
}

function canAsk({ isYes }: Arguments): boolean {
  return !isYes && process.stdin.isTTY && process.stdout.isTTY;
}

/** Questions need a terminal; a script gives flags, or takes the defaults. */
function asks(given: Arguments, flag: string): boolean {
  if (given.isYes || canAsk(given)) return !given.isYes;
  throw new Refusal(`There is no terminal to ask at. Give ${flag}, or --yes for the defaults.`);
}

function chosenKind(given: Arguments, initial: Kind): Promise<Kind> | Kind {
  return asks(given, "--template chat, socketio or existing") ? askKind(initial) : initial;
}

async function printLines(given: Arguments, gets: Template, found: string | undefined): Promise<void> {
  const configuration = found ?? "wrangler.jsonc";
  const isAsking = gets === "chat" && given.extras === undefined && canAsk(given);
  const lines = linesFor({
    gets,
    name: given.name ?? nameFrom(path.basename(path.resolve(given.folder ?? "."))),
    extras: gets === "chat" ? (given.extras ?? (isAsking ? await askExtras() : ["lobby"])) : [],
    classes: given.classes,
    ...(given.environment !== undefined && { environment: given.environment }),
    basePath: given.basePath ?? BASE_PATHS[gets],
    format: configuration.endsWith(".toml") ? "toml" : "json",
    hasMigrations:
      found !== undefined && MIGRATIONS.test(readFileSync(path.resolve(given.folder ?? ".", found), "utf8")),
  });
  const manager = packageManager();
  const parts = [
    `Nothing was changed. Add to ${configuration}, to the lists in it if it has them (a migration at their end):`,
    lines.configuration,
    "Add to the entry file, each part at its place:",
    lines.code,
    "Then, once:",
    [
      `${manager} ${manager === "npm" ? "install" : "add"} ${gets === "engine" ? `${TO_INSTALL} socket.io` : TO_INSTALL}`,
      ...lines.commands,
      `npx parley-rooms doctor${given.environment === undefined ? "" : ` --env ${given.environment}`}`,
    ].join("\n"),
  ];
  print(`${parts.join("\n\n")}\n\n`);
}

async function begin(given: Arguments, template: Template): Promise<void> {
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
  print(`${name} is in ${folder}. Next:\n\n${steps.map((step) => `  ${step}`).join("\n")}\n\n`);
}

/** The one that runs this: npm, pnpm, yarn or bun. */
function packageManager(): string {
  return /^(pnpm|yarn|bun)\//.exec(process.env["npm_config_user_agent"] ?? "")?.[1] ?? "npm";
}

const print = (text: string): void => void process.stdout.write(text);
