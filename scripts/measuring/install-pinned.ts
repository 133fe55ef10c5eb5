// Installs packages that are no dependencies of the project into a folder of their own, once for each state of their lockfile.
// Offline afterwards.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

const LOCKFILE = "package-lock.json";
/** npm writes it last: with it, an install has come to its end. */
const INSTALLED_MARK = path.join("node_modules", ".package-lock.json");
const INSTALL_MS_MAX = 300_000;

export interface Pinned {
  /** The folder of package.json, lockfile and further files. */
  readonly source: string;
  readonly target: string;
  /** For messages: `the peers`. */
  readonly what: string;
}

/** @throws Error that says why npm could not */
export async function installPinned({ source, target, what }: Pinned): Promise<void> {
  const isInstalled =
    existsSync(path.join(target, INSTALLED_MARK)) && textOf(target, LOCKFILE) === textOf(source, LOCKFILE);
  mkdirSync(target, { recursive: true });
  cpSync(source, target, { recursive: true });
  if (isInstalled) return;
  console.error(`Installing ${what} into ${path.relative(process.cwd(), target)} (once) ...`);
  try {
    const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    await promisify(execFile)("npm", args, { cwd: target, timeout: INSTALL_MS_MAX });
  } catch (error) {
    throw new Error(`npm could not install ${what}: ${(error as { stderr?: string }).stderr}`, { cause: error });
  }
}

function textOf(folder: string, name: string): string | undefined {
  const file = path.join(folder, name);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
