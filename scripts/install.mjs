// Makes sure that the pinned packages are installed, among them the Node that runs everything else.
// Plain JavaScript for whatever Node a machine has; called by `npm start` and `npm test` before all else.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

const projectRoot = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "..");
const nodeBin = path.join(projectRoot, "node_modules", "node", "bin");
const pinnedNode = path.join(nodeBin, process.platform === "win32" ? "node.exe" : "node");

/** Every version is pinned exactly, so comparing versions says whether an install is up to date. */
function isInstalled() {
  const { dependencies, devDependencies } = readJson(path.join(projectRoot, "package.json"));
  return (
    existsSync(pinnedNode) &&
    Object.entries({ ...dependencies, ...devDependencies }).every(([name, pin]) => {
      const manifest = path.join(projectRoot, "node_modules", name, "package.json");
      return existsSync(manifest) && readJson(manifest).version === pin.split("@").at(-1);
    })
  );
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function install() {
  if (isInstalled()) return;
  console.log("Installing packages (once) ...");
  // Errors only: the system's Node may be older than what the packages ask for, and they will not run on it.
  const npm = spawnSync("npm", ["ci", "--loglevel=error", "--no-fund", "--no-audit", "--no-progress"], {
    cwd: projectRoot,
    stdio: ["ignore", "pipe", "inherit"],
    shell: process.platform === "win32",
  });
  if (npm.status !== 0) {
    console.error("npm ci failed; the packages could not be installed.");
    process.exit(npm.status ?? 1);
  }
}

/** Installs what is missing, then runs a script with the pinned Node; ends as the script ends. */
export function runWithPinnedNode(script) {
  install();
  const child = spawn(pinnedNode, [path.join(projectRoot, "scripts", script), ...process.argv.slice(2)], {
    cwd: projectRoot,
    // The channel tells the child when this process is gone, however it ended.
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, PATH: `${nodeBin}${path.delimiter}${process.env.PATH ?? ""}` },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
}
