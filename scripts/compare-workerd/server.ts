// Installs a workerd version into the cache and runs it for compare-workerd:
// each start is a fresh process on a free port.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";

export interface Server {
  pid: number;
  port: number;
  stop(): Promise<void>;
}

const INSTALL_MS_MAX = 180_000;
const START_MS_MAX = 15_000;
const STOP_MS_MAX = 2_000;
const STDERR_CHARS_KEPT = 2_000;
const CONFIG = path.join(import.meta.dirname, "config.capnp");

const run = promisify(execFile);

/** Installs one exact package, unless it is there already. */
export async function installOnce(folder: string, name: string, version: string, signal: AbortSignal): Promise<void> {
  if (existsSync(path.join(folder, "node_modules", name, "package.json"))) return;
  mkdirSync(folder, { recursive: true });
  // A package.json of its own stops npm from walking up into the project's.
  writeFileSync(path.join(folder, "package.json"), '{ "private": true }\n');
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", `${name}@${version}`];
  try {
    await run("npm", args, { cwd: folder, timeout: INSTALL_MS_MAX, signal });
  } catch (error) {
    throw new Error(`npm could not install ${name}@${version}: ${(error as { stderr?: string }).stderr}`, {
      cause: error,
    });
  }
}

/** The path of the native binary. The platform package is installed directly: the `workerd` package only wraps it. */
export async function installWorkerd(cache: string, version: string, signal: AbortSignal): Promise<string> {
  const name = `@cloudflare/workerd-linux-${process.arch === "x64" ? "64" : process.arch}`;
  const folder = path.join(cache, version);
  await installOnce(folder, name, version, signal);
  return path.join(folder, "node_modules", name, "bin", "workerd");
}

export async function startServer(binary: string, pin: string[]): Promise<Server> {
  const command = [...pin, binary, "serve", CONFIG, "--control-fd=3"];
  const child = spawn(command[0] ?? binary, command.slice(1), {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-STDERR_CHARS_KEPT);
  });
  try {
    const port = await listeningPort(child);
    return { pid: child.pid ?? 0, port, stop: () => stop(child) };
  } catch (error) {
    await stop(child);
    throw new Error(`${binary} did not start: ${(error as Error).message}\n${stderr}`, {
      cause: error,
    });
  }
}

/** workerd writes one JSON line per open port to the control pipe. */
function listeningPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no port after ${START_MS_MAX} ms`)), START_MS_MAX);
    timer.unref();
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`exit code ${code}`)));
    (child.stdio[3] as Readable).on("data", (chunk: Buffer) => {
      const port = /"event":"listen".*"port":(\d+)/.exec(chunk.toString())?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
}

function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill("SIGTERM");
  });
}
