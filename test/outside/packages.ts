// Packages of other languages that tests use: installed into .bench on first use, and again when their pins change.
// Where one cannot be installed, the tests which need it are skipped with the reason.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { HANG_MS } from "../host/patience.ts";
import { PROJECT_ROOT } from "./servers.ts";

/** A command that hangs ends before its test does, so that the test reports what it printed. */
const COMMAND_MS_MAX = HANG_MS / 2;
/** A `nice` value: compilers yield to the tests that run meanwhile. */
const INSTALL_NICENESS = 3;

export type Command = readonly [program: string, ...args: string[]];

export interface Packages {
  /** Programs that have to be on the machine. */
  readonly tools: readonly string[];
  /** The pins: the packages are installed again when they change. */
  readonly pins: string;
  readonly install: readonly Command[];
  /** Builds our own program, where that is a step of its own: a failure here is ours. */
  readonly build?: Command;
}

/** A path in the folder where a set of packages is kept. */
export const installed = (set: string, ...names: string[]): string =>
  path.join(PROJECT_ROOT, ".bench", "clients", set, ...names);

/** Resolves with why a set of packages cannot be used here, or with nothing once it can. */
export async function ensureInstalled(set: string, packages: Packages): Promise<string | undefined> {
  const missing = packages.tools.filter((tool) => !isOnPath(tool));
  if (missing.length > 0) return `no ${missing.join(", no ")} on this machine`;
  const pins = readFileSync(packages.pins, "utf8");
  const stamp = installed(set, "installed.txt");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== pins) {
    mkdirSync(installed(set), { recursive: true });
    try {
      for (const command of packages.install) await execute(command, { niceness: INSTALL_NICENESS });
    } catch (error) {
      const reason = (error as Error).message.trim().replaceAll(/\s*\n\s*/g, " ");
      return `packages of ${set} cannot be installed: ${reason}`;
    }
    writeFileSync(stamp, pins);
  }
  if (packages.build) await execute(packages.build, { niceness: INSTALL_NICENESS });
  return undefined;
}

/** Python packages, in an environment of their own. */
export function pythonPackages(set: string, requirements: string): Packages {
  const venv = installed(set, "venv");
  // Python compiles modules on first use, and tests use few of them.
  const flags = ["--quiet", "--no-deps", "--no-compile", "--disable-pip-version-check"];
  return {
    tools: ["python3"],
    pins: requirements,
    install: [
      ["python3", "-m", "venv", "--clear", venv],
      [path.join(venv, "bin", "python"), "-m", "pip", "install", ...flags, "-r", requirements],
    ],
  };
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
