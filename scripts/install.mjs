// Makes sure that the pinned packages are installed, among them the Node that runs everything else.
// Plain JavaScript for the Node that a machine has; run.mjs calls it before every command.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

export const projectRoot = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "..");
export const nodeBin = path.join(projectRoot, "node_modules", "node", "bin");
export const pinnedNode = path.join(nodeBin, process.platform === "win32" ? "node.exe" : "node");

/** A terminal shows seconds go by; a log gets a line now and then. */
const TICK_MS = process.stderr.isTTY ? 1000 : 10_000;

/** The lockfile pins every version, so comparing versions says whether an install is up to date. */
function isInstalled() {
  const { packages } = readJson(path.join(projectRoot, "package-lock.json"));
  const { dependencies, devDependencies } = packages[""];
  return (
    existsSync(pinnedNode) &&
    Object.keys({ ...dependencies, ...devDependencies }).every((name) => {
      const manifest = path.join(projectRoot, "node_modules", name, "package.json");
      return existsSync(manifest) && readJson(manifest).version === packages[`node_modules/${name}`].version;
    })
  );
}

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

/**
 * Installs missing packages.
 * @param {(npm: import("node:child_process").ChildProcess) => void} begun is given npm, which has to end where the command is stopped
 * @returns {Promise<number | undefined>} npm's exit code; undefined if a signal ended it
 */
export async function install(begun) {
  if (isInstalled()) return 0;
  const beganMs = Date.now();
  showProgress(false, 0);
  const npm = startNpm();
  begun(npm);
  const say = () => showProgress(npm.killed, Math.round((Date.now() - beganMs) / 1000));
  const timer = setInterval(say, TICK_MS);
  const code = await exitOf(npm);
  clearInterval(timer);
  if (process.stderr.isTTY) process.stderr.write("\n");
  return code;
}

function startNpm() {
  // Errors only: the system's Node may be older than the packages ask for, but they do not run on it.
  return spawn("npm", ["ci", "--loglevel=error", "--no-fund", "--no-audit", "--no-progress"], {
    cwd: projectRoot,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
}

/**
 * @param {import("node:child_process").ChildProcess} npm
 * @returns {Promise<number | undefined>}
 */
function exitOf(npm) {
  return new Promise((resolve) => {
    npm.once("error", () => resolve(1));
    npm.once("exit", (code) => resolve(code ?? undefined));
  });
}

/**
 * @param {boolean} isStopping npm removes the packages of an interrupted installation
 * @param {number} seconds
 */
function showProgress(isStopping, seconds) {
  const what = isStopping
    ? "Stopping: npm takes its packages back."
    : "Installing packages, once: about 700 MB, a minute or two.";
  const line = `${what} ${seconds} s ...`;
  process.stderr.write(process.stderr.isTTY ? `\r\x1B[K${line}` : `${line}\n`);
}
