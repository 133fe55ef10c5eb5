// Packages that tests use: installed once on a machine, and again when their pins change. Where one of another language cannot be installed, the
// tests which need it are skipped with the reason.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, setPriority, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { HANG_MS } from "../host/patience.ts";

/** A command that hangs ends before its test does, so that the test reports what it printed. */
const COMMAND_MS_MAX = HANG_MS / 2;
/** A `nice` value: compilers yield to the tests that run meanwhile. */
const INSTALL_NICENESS = 3;

export type Command = readonly [program: string, ...args: string[]];

/** Sets of packages are kept beside the caches of npm, pip and cargo, so that all clones of a machine have them. */
const SETS = path.join(writable(process.env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache")), "parley-rooms-tests");
const POLL_MS = 200;

export interface Packages {
  /** The folder that stores them, by `folderOf`. */
  readonly folder: string;
  /** Programs that have to be on the machine. */
  readonly tools: readonly string[];
  /** What `install` needs in the folder. */
  readonly prepare?: () => void;
  readonly install: readonly Command[];
  /** Builds our own program, where that is a step of its own: a failure here is ours. */
  readonly build?: Command;
  /** What nobody needs after that. */
  readonly leftovers?: readonly string[];
}

/** @param sources the pins of a set, and our own program: when one changes, all is made anew in another folder */
export function folderOf(set: string, ...sources: readonly string[]): string {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}`);
  for (const source of sources) hash.update(readFileSync(source));
  return path.join(SETS, `${set}-${hash.digest("hex").slice(0, 16)}`);
}

/** Resolves with why a set of packages cannot be used here, or with nothing once it can. */
export async function ensureInstalled({ folder, tools, ...steps }: Packages): Promise<string | undefined> {
  const missing = tools.filter((tool) => !isOnPath(tool));
  if (missing.length > 0) return `no ${missing.join(", no ")} on this machine`;
  const stamp = path.join(folder, "installed");
  // The tests of another clone may install the same now.
  while (!existsSync(stamp)) {
    if (!begins(`${folder}.installing`)) await sleep(POLL_MS);
    else {
      try {
        const obstacle = await install(folder, steps);
        if (obstacle !== undefined) return obstacle;
        writeFileSync(stamp, "");
      } finally {
        rmSync(`${folder}.installing`, { force: true });
      }
    }
  }
  return undefined;
}

type Steps = Pick<Packages, "prepare" | "install" | "build" | "leftovers">;

async function install(folder: string, { prepare, install: commands, build, leftovers = [] }: Steps) {
  mkdirSync(folder, { recursive: true });
  prepare?.();
  try {
    for (const command of commands) await execute(command, { niceness: INSTALL_NICENESS });
  } catch (error) {
    const reason = (error as Error).message.trim().replaceAll(/\s*\n\s*/g, " ");
    return `packages cannot be installed: ${reason}`;
  }
  if (build) await execute(build, { niceness: INSTALL_NICENESS });
  for (const name of leftovers) rmSync(path.join(folder, name), { recursive: true, force: true });
  return undefined;
}

/** Whether this process is the one that installs. The file names it, so that one that was killed holds up nobody. */
function begins(file: string): boolean {
  mkdirSync(path.dirname(file), { recursive: true });
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (!isAlive(file)) rmSync(file, { force: true });
    return false;
  }
}

function isAlive(file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, "utf8")), 0);
    return true;
  } catch (error) {
    // Another user's process.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Python packages, in an environment of their own. */
export function pythonPackages(set: string, requirements: string): Packages {
  const folder = folderOf(set, requirements);
  const venv = path.join(folder, "venv");
  // Python compiles modules on first use, and tests use few of them.
  const flags = ["--quiet", "--no-deps", "--no-compile", "--disable-pip-version-check"];
  return {
    folder,
    tools: ["python3"],
    install: [
      ["python3", "-m", "venv", "--clear", venv],
      [path.join(venv, "bin", "python"), "-m", "pip", "install", ...flags, "-r", requirements],
    ],
  };
}

/** @returns the folder, or one for what is temporary if nothing can be written there */
function writable(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return folder;
  } catch {
    return tmpdir();
  }
}

/** Runs a program to its end. @returns its output; rejects with the output if the program fails or hangs */
export async function execute(
  [program, ...args]: Command,
  {
    cwd,
    env,
    niceness = 0,
  }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly niceness?: number } = {},
): Promise<string> {
  try {
    const running = promisify(execFile)(program, args, {
      timeout: COMMAND_MS_MAX,
      killSignal: "SIGKILL",
      cwd,
      env: { ...process.env, ...env },
    });
    // Its children inherit this.
    if (niceness > 0 && running.child.pid !== undefined) setPriority(running.child.pid, niceness);
    return (await running).stdout;
  } catch (error) {
    const { message, killed, stdout } = error as Error & { killed?: boolean; stdout?: string };
    throw new Error(`${killed ? `ended after ${COMMAND_MS_MAX} ms: ` : ""}${message}\n${stdout ?? ""}`, {
      cause: error,
    });
  }
}

function isOnPath(tool: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter);
  return folders.some((folder) => existsSync(path.join(folder, tool)));
}
