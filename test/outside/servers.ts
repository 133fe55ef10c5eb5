// Starts and stops the servers and commands of the outside tests. Each is a process group of its own, ended by its id, so that
// nothing it started stays behind.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";

import { freePort as freePortOf } from "../../scripts/port.ts";
import { PATIENCE_MS } from "../host/patience.ts";

export const PROJECT_ROOT = path.join(import.meta.dirname, "..", "..");
export const HOST = "127.0.0.1";
/** The secret that test servers get and test tokens are signed with. */
export const TEST_SECRET = "a-secret-that-only-the-outside-tests-know";

const STOP_TIMEOUT_MS = 8000;
const POLL_MS = 50;

export interface Command {
  /** Default: Node. */
  readonly program?: string;
  readonly args: readonly string[];
  /** On top of this process's own; `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A command with all its child processes; keeps their output. */
export class ProcessGroup {
  stdout = "";
  stderr = "";
  readonly #child: ChildProcess;
  readonly #exit: Promise<number | string>;
  #ended: number | string | undefined;

  constructor({ program = process.execPath, args, env }: Command) {
    this.#child = spawn(program, args, {
      cwd: PROJECT_ROOT,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.#child.stderr?.on("data", (chunk: Buffer) => (this.stderr += chunk.toString()));
    // `close` comes when all output has been read, `exit` may come before.
    this.#exit = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => {
        this.#ended = code ?? signal ?? "unknown";
        running.delete(this);
        resolve(this.#ended);
      });
    });
    running.add(this);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** All that it printed, without colours: many tools print colours into a pipe when the variable `CI` is set. */
  get output(): string {
    return stripVTControlCharacters(`${this.stdout}${this.stderr}`);
  }

  /** Resolves with the exit code, or the name of the signal, once everything in the group has let go of its output. */
  exit(): Promise<number | string> {
    return this.#exit;
  }

  /** Signals the first process alone, not its children. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Signals all of it, as a terminal's Ctrl-C does. */
  signalAll(signal: NodeJS.Signals): void {
    process.kill(-this.pid, signal);
  }

  /** Its living processes, from Linux's /proc; other systems have none. */
  members(): number[] {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.map(Number).filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return Number(group) === this.pid && state !== "Z";
      } catch {
        return false;
      }
    });
  }

  /** Kills all processes of the group at once. */
  killAll(): void {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // No client is left.
    }
  }

  async stop(): Promise<void> {
    this.signal("SIGTERM");
    const timer = setTimeout(() => this.killAll(), STOP_TIMEOUT_MS);
    await this.#exit;
    clearTimeout(timer);
    this.killAll();
  }

  /** Resolves when `pattern` has been printed. */
  async prints(pattern: RegExp): Promise<void> {
    const deadlineMs = Date.now() + PATIENCE_MS;
    while (!pattern.test(this.output)) {
      if (this.#ended !== undefined) throw new Error(`ended (${this.#ended}) before ${pattern}: ${this.output}`);
      if (Date.now() > deadlineMs) throw new Error(`no ${pattern} in ${PATIENCE_MS} ms: ${this.output}`);
      await pause(POLL_MS);
    }
  }
}

const running = new Set<ProcessGroup>();
// However the tests end, their servers end with them.
process.once("exit", () => {
  for (const group of running) group.killAll();
});

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly group: ProcessGroup;
  readonly stateDir: string;
  /** Ends the server and forgets its rooms. */
  stop(): Promise<void>;
}

interface ServerOptions {
  readonly settings?: Readonly<Record<string, string>>;
  readonly stateDir?: string;
  /** Another deployment than the one that server.setup.ts has built. */
  readonly deploymentFile?: string;
}

/** The environment variable that names the file with the deployment. */
export const DEPLOYMENT_FILE = "PARLEY_TEST_DEPLOYMENT";

/**
 * The Worker with the settings of development, on a free port, with rooms in a temporary directory. It starts in a second, and a
 * request takes a fifth of its time behind `wrangler dev`; npm-commands.test.ts and serve.test.ts test `npm start` and `npm run serve`.
 */
export function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const { deploymentFile = process.env[DEPLOYMENT_FILE]! } = options;
  return start(options, (stateDir) => ["test/outside/server-process.ts", deploymentFile, stateDir]);
}

/** The server of `npm start`, for tests of the behaviour of `wrangler dev`. */
export function startDevServer(options: ServerOptions = {}): Promise<TestServer> {
  return start(options, (stateDir) => ["scripts/dev-server.ts", "--state", stateDir]);
}

async function start(
  { settings = {}, stateDir = mkdtempSync(path.join(tmpdir(), "parley-state-")) }: ServerOptions,
  args: (stateDir: string) => string[],
): Promise<TestServer> {
  const port = Number(settings["PORT"] ?? (await freePort()));
  const group = new ProcessGroup({
    args: args(stateDir),
    env: { JWT_SECRET: TEST_SECRET, ...settings, PORT: String(port) },
  });
  const stop = async (): Promise<void> => {
    await group.stop();
    rmSync(stateDir, { recursive: true, force: true });
  };
  try {
    await group.prints(/Ready on/);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `http://${HOST}:${port}`, port, group, stateDir, stop };
}

export const freePort = (): Promise<number> => freePortOf(HOST);

export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: HOST });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
