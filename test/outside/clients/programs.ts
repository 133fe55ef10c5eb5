// The programs in the folders beside this file: how their packages get onto the machine, and how they are run.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import { PROJECT_ROOT } from "../dev-server.ts";

const INSTALL_TIMEOUT_MS = 300_000;
/** Below the time of a test, so that what was printed is told. */
const RUN_TIMEOUT_MS = 45_000;

type Command = readonly [program: string, ...args: string[]];

interface Language {
  readonly tools: readonly string[];
  /** What says which packages: they are installed anew when it changes. */
  readonly pins: string;
  readonly install: readonly Command[];
  /** Builds our own program, where that is a step of its own: a failure here is ours. */
  readonly build?: Command;
  readonly run: Command;
}

/** What a program printed: one object per line. */
export interface Step {
  readonly step: string;
  readonly [fact: string]: unknown;
}

const sources = (language: string, ...names: string[]): string => path.join(import.meta.dirname, language, ...names);
const installed = (language: string, ...names: string[]): string =>
  path.join(PROJECT_ROOT, ".bench", "clients", language, ...names);

const cargoFolders = ["--manifest-path", sources("rust", "Cargo.toml"), "--target-dir", installed("rust", "target")];
const cargoBuild: Command = ["cargo", "build", "--quiet", "--locked", ...cargoFolders];
const mavenFolders = ["--file", sources("java", "pom.xml"), `-DoutputDirectory=${installed("java", "jars")}`];
const python = installed("python", "venv", "bin", "python");

const LANGUAGES = {
  python: {
    tools: ["python3"],
    pins: sources("python", "requirements.txt"),
    install: [
      ["python3", "-m", "venv", "--clear", installed("python", "venv")],
      [python, "-m", "pip", "install", "--quiet", "--no-deps", "-r", sources("python", "requirements.txt")],
    ],
    run: [python, sources("python", "client.py")],
  },
  java: {
    tools: ["java", "javac", "mvn"],
    pins: sources("java", "pom.xml"),
    install: [["mvn", "--quiet", "--batch-mode", ...mavenFolders, "dependency:copy-dependencies"]],
    build: ["javac", "-cp", installed("java", "jars", "*"), "-d", installed("java"), sources("java", "Client.java")],
    run: ["java", "-cp", `${installed("java")}${path.delimiter}${installed("java", "jars", "*")}`, "Client"],
  },
  rust: {
    tools: ["cargo"],
    pins: sources("rust", "Cargo.lock"),
    install: [[...cargoBuild, "--package", "rust_socketio", "--package", "serde_json"]],
    build: [...cargoBuild, "--offline"],
    run: [installed("rust", "target", "debug", "parley-client")],
  },
} satisfies Record<string, Language>;

export type LanguageName = keyof typeof LANGUAGES;
export const LANGUAGE_NAMES = Object.keys(LANGUAGES) as LanguageName[];

/** Resolves with why a language's programs cannot run here, or with nothing once they can. */
export async function prepare(name: LanguageName): Promise<string | undefined> {
  const language: Language = LANGUAGES[name];
  const missing = language.tools.filter((tool) => !isOnPath(tool));
  if (missing.length > 0) return `no ${missing.join(", no ")} on this machine`;
  const pins = readFileSync(language.pins, "utf8");
  const stamp = installed(name, "installed.txt");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== pins) {
    mkdirSync(installed(name), { recursive: true });
    try {
      for (const command of language.install) await execute(command, INSTALL_TIMEOUT_MS);
    } catch (error) {
      const reason = (error as Error).message.trim().replaceAll(/\s*\n\s*/g, " ");
      return `packages of ${name} cannot be installed: ${reason}`;
    }
    writeFileSync(stamp, pins);
  }
  if (language.build) await execute(language.build, INSTALL_TIMEOUT_MS);
  return undefined;
}

/** Runs a program to its end. Rejects with all it printed if it ends badly or takes too long. */
export async function run(name: LanguageName, args: readonly string[]): Promise<Step[]> {
  const stdout = await execute([...LANGUAGES[name].run, ...args] as unknown as Command, RUN_TIMEOUT_MS);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Step);
}

async function execute([program, ...args]: Command, timeout: number): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, { timeout, killSignal: "SIGKILL" });
    return stdout;
  } catch (error) {
    const { message, killed, stdout } = error as Error & { killed?: boolean; stdout?: string };
    throw new Error(`${killed ? `ended after ${timeout} ms: ` : ""}${message}\n${stdout ?? ""}`, { cause: error });
  }
}

function isOnPath(tool: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter);
  return folders.some((folder) => existsSync(path.join(folder, tool)));
}
