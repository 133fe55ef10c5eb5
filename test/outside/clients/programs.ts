// The programs in the folders beside this file: how their packages get onto the machine, and how they are run.
import path from "node:path";

import { ensureInstalled, execute, installed, pythonPackages, type Command, type Packages } from "../packages.ts";

interface Language extends Packages {
  readonly run: Command;
}

/** The output of a program: one object per line. */
export interface Step {
  readonly step: string;
  readonly [fact: string]: unknown;
}

const sources = (language: string, ...names: string[]): string => path.join(import.meta.dirname, language, ...names);

const cargoFolders = ["--manifest-path", sources("rust", "Cargo.toml"), "--target-dir", installed("rust", "target")];
const cargoBuild: Command = ["cargo", "build", "--quiet", "--locked", ...cargoFolders];
const mavenFolders = ["--file", sources("java", "pom.xml"), `-DoutputDirectory=${installed("java", "jars")}`];

const LANGUAGES = {
  python: {
    ...pythonPackages("python", sources("python", "requirements.txt")),
    run: [installed("python", "venv", "bin", "python"), sources("python", "client.py")],
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
export function prepare(name: LanguageName): Promise<string | undefined> {
  return ensureInstalled(name, LANGUAGES[name]);
}

/** Runs a program to its end. Rejects with all it printed if it ends badly or hangs. */
export async function run(name: LanguageName, args: readonly string[]): Promise<Step[]> {
  const stdout = await execute([...LANGUAGES[name].run, ...args] as unknown as Command);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Step);
}
