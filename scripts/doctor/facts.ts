// All that the doctor knows of a project, read once. Called by command.ts; the checks get it, and read nothing themselves. The project's own
// Wrangler reads the configuration, so that environments and defaults count as they do in a deployment. The project's code is not read.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseEnv } from "node:util";

import { CLASSES } from "../chat-parts.ts";
import { readVersions, type Versions } from "./versions.ts";

/** A configuration, as far as the doctor looks at it; Wrangler has filled in the values that an environment inherits. */
export interface Config {
  readonly configPath?: string;
  readonly compatibility_date?: string;
  readonly compatibility_flags: readonly string[];
  readonly durable_objects: { readonly bindings: readonly ObjectBinding[] };
  readonly migrations: readonly Migration[];
  readonly exports?: Readonly<Record<string, { readonly type?: string; readonly storage?: string }>>;
  readonly queues: {
    readonly producers?: ReadonlyArray<{ readonly binding: string; readonly queue: string }>;
    readonly consumers?: readonly Consumer[];
  };
  /** Names of environments. */
  readonly definedEnvironments?: readonly string[];
  readonly vars: Readonly<Record<string, unknown>>;
  readonly secrets?: { readonly required?: readonly string[] };
}

interface ObjectBinding {
  readonly name: string;
  readonly class_name: string;
  /** The class is that of another Worker. */
  readonly script_name?: string;
}

export interface Migration {
  readonly tag?: string;
  readonly new_classes?: readonly string[];
  readonly new_sqlite_classes?: readonly string[];
  readonly renamed_classes?: ReadonlyArray<{ readonly from: string; readonly to: string }>;
  readonly transferred_classes?: ReadonlyArray<{ readonly to: string }>;
  readonly deleted_classes?: readonly string[];
}

export interface Consumer {
  readonly queue: string;
  readonly max_retries?: number;
  readonly dead_letter_queue?: string;
}

export interface Facts {
  readonly config: Config;
  /** Of the configuration; `undefined` for its top level. */
  readonly environment: string | undefined;
  /** Of `.dev.vars`, or `.dev.vars.ENVIRONMENT`, on this machine. */
  readonly localSecrets: Readonly<Record<string, string>>;
  /** Something has the name of a binding or class of the chat, or nothing is bound at all. Otherwise it is a Socket.IO application. */
  readonly isChat: boolean;
  readonly versions: Versions;
}

/** The project cannot be looked at: there is no configuration, no Wrangler, or Wrangler refuses the file. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
}

interface Wrangler {
  readonly unstable_readConfig: (args: { config: string; env?: string }, options: { hideWarnings: boolean }) => Config;
}

/** By this name Wrangler reads the top level, also if CLOUDFLARE_ENV names an environment. */
const TOP_LEVEL = "";
/** In the order in which Wrangler looks for them. */
const CONFIGS = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/** @throws Unreadable */
export async function readFacts(folder: string, environment: string | undefined): Promise<Facts> {
  const config = await readConfigOrTop(folder, environment);
  return {
    config,
    environment,
    localSecrets: readLocalSecrets(folder, environment),
    isChat: isChat(config),
    versions: readVersions(folder),
  };
}

const isChat = ({ durable_objects: { bindings } }: Config): boolean =>
  bindings.length === 0 ||
  bindings.some(({ name, class_name }) =>
    CLASSES.some(({ binding, className }) => name === binding || class_name === className),
  );

/** The variables that `wrangler dev` gives the Worker in this folder. @throws Unreadable */
export async function readLocalVariables(
  folder: string,
  environment: string | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  const { vars } = await readConfig(folder, environment);
  return { ...vars, ...readLocalSecrets(folder, environment) };
}

/** The top level for a name that the configuration does not have: runtime.ts reports it, and Wrangler would refuse the whole file. */
async function readConfigOrTop(folder: string, environment: string | undefined): Promise<Config> {
  if (environment === undefined) return readConfig(folder, undefined);
  const top = await readConfig(folder, TOP_LEVEL);
  return top.definedEnvironments?.includes(environment) ? readConfig(folder, environment) : top;
}

async function readConfig(folder: string, environment: string | undefined): Promise<Config> {
  const file = CONFIGS.map((name) => path.join(folder, name)).find((name) => existsSync(name));
  if (file === undefined) throw new Unreadable(`There is no ${CONFIGS.toReversed().join(", ")} in ${folder}.`);
  const wrangler = await wranglerOf(folder);
  try {
    const args = { config: file, ...(environment !== undefined && { env: environment }) };
    return wrangler.unstable_readConfig(args, { hideWarnings: true });
  } catch (error) {
    const reason = (error as Error).message.trim();
    throw new Unreadable(`${path.basename(file)} cannot be read: ${reason}`);
  }
}

/** The project's own, which deploys it. @throws Unreadable */
async function wranglerOf(folder: string): Promise<Wrangler> {
  try {
    const entry = createRequire(path.join(folder, "package.json")).resolve("wrangler");
    return ((await import(pathToFileURL(entry).href)) as { default: Wrangler }).default;
  } catch {
    throw new Unreadable("Wrangler is not installed in this project. Run: npm install --save-dev wrangler");
  }
}

function readLocalSecrets(folder: string, environment: string | undefined): Readonly<Record<string, string>> {
  const names = [...(environment === undefined ? [] : [`.dev.vars.${environment}`]), ".dev.vars"];
  const file = names.map((name) => path.join(folder, name)).find((name) => existsSync(name));
  return file === undefined ? {} : (parseEnv(readFileSync(file, "utf8")) as Record<string, string>);
}
