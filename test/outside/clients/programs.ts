// The programs in the folders beside this file: how their packages get onto the machine, and how they are run.
import path from "node:path";

import { ensureInstalled, execute, folderOf, pythonPackages, type Command, type Packages } from "../packages.ts";

interface Language extends Packages {
  readonly run: Command;
}

/** The output of a program: one object per line. */
export interface Step {
  /** Whose step it is, counted from 0; a program of one member leaves it out. */
  readonly member?: number;
  readonly step: string;
  readonly [fact: string]: unknown;
}

const sources = (language: string, ...names: string[]): string => path.join(import.meta.dirname, language, ...names);

const python = pythonPackages("python", sources("python", "requirements.txt"));

const java = folderOf("java", sources("java", "pom.xml"), sources("java", "Client.java"));
const mavenFolders = ["--file", sources("java", "pom.xml"), `-DoutputDirectory=${path.join(java, "jars")}`];
const classPath = path.join(java, "jars", "*");
/** A program of some seconds gains nothing from the compiler for long runs, nor from several threads that collect garbage. */
const JAVA_FLAGS = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

const rust = folderOf("rust", ...["Cargo.toml", "Cargo.lock", "src/main.rs"].map((name) => sources("rust", name)));
const cargoFolders = ["--manifest-path", sources("rust", "Cargo.toml"), "--target-dir", path.join(rust, "target")];
const cargoBuild: Command = ["cargo", "build", "--quiet", "--locked", ...cargoFolders];

const LANGUAGES = {
  python: { ...python, run: [path.join(python.folder, "venv", "bin", "python"), sources("python", "client.py")] },
  java: {
    folder: java,
    tools: ["java", "javac", "mvn"],
    install: [["mvn", "--quiet", "--batch-mode", ...mavenFolders, "dependency:copy-dependencies"]],
    build: ["javac", "-cp", classPath, "-d", java, sources("java", "Client.java")],
    run: ["java", ...JAVA_FLAGS, "-cp", [java, classPath].join(path.delimiter), "Client"],
  },
  rust: {
    folder: rust,
    tools: ["cargo"],
    install: [[...cargoBuild, "--package", "rust_socketio", "--package", "serde_json"]],
    build: [...cargoBuild, "--offline"],
    leftovers: ["build", "deps", ".fingerprint"].map((name) => path.join("target", "debug", name)),
    run: [path.join(rust, "target", "debug", "parley-client")],
  },
} satisfies Record<string, Language>;

export type LanguageName = keyof typeof LANGUAGES;
export const LANGUAGE_NAMES = Object.keys(LANGUAGES) as LanguageName[];

/** Resolves with why a language's programs cannot run here, or with nothing once they can. */
export function prepare(name: LanguageName): Promise<string | undefined> {
  return ensureInstalled(LANGUAGES[name]);
}

/** Where a member enters: the first arguments of a program. */
export type Place = readonly [url: string, room: string, token: string, transport: string];

/**
 * Runs members to their end: in one program, which starts slowly, but for Rust's. Rejects with all it printed if it ends badly or hangs.
 * @param args follow the places
 * @returns the steps of each
 */
export async function run(
  name: LanguageName,
  places: readonly Place[],
  stayMs: number,
  ...args: string[]
): Promise<Step[][]> {
  if (name === "rust" && places.length > 1)
    return (await Promise.all(places.map((place) => run(name, [place], stayMs, ...args)))).flat();
  // Also where the environment says otherwise, Python keeps the modules that the first program compiles, for all that follow.
  const env = { PYTHONDONTWRITEBYTECODE: "" };
  const command = [...LANGUAGES[name].run, ...places.flat(), String(stayMs), ...args] as unknown as Command;
  const lines = (await execute(command, { env })).trimEnd().split("\n");
  const steps = lines.map((line) => JSON.parse(line) as Step);
  return places.map((_, at) => steps.filter(({ member = 0 }) => member === at));
}
