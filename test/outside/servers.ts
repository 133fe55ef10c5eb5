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
import { runtimeLine } from "../../scripts/serve/runtime-log.ts";
import { PATIENCE_MS } from "../host/patience.ts";
import { HOST, runDeployment } from "./deployment.ts";

export { HOST };

export const PROJECT_ROOT = path.join(import.meta.dirname, "..", "..");
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
  prints(pattern: RegExp): Promise<void> {
    return untilPrinted(pattern, () => {
      if (this.#ended !== undefined && !pattern.test(this.output))
        throw new Error(`ended (${this.#ended}) before ${pattern}: ${this.output}`);
      return this.output;
    });
  }
}

/** The lines of a server that runs in this process. */
class ServerLog {
  output = "";

  add({ level, message }: { readonly level: string; readonly message: string }): void {
    this.output += `${runtimeLine(level, message)}\n`;
  }

  prints(pattern: RegExp): Promise<void> {
    return untilPrinted(pattern, () => this.output);
  }
}

async function untilPrinted(pattern: RegExp, output: () => string): Promise<void> {
  const deadlineMs = Date.now() + PATIENCE_MS;
  while (!pattern.test(output())) {
    if (Date.now() > deadlineMs) throw new Error(`no ${pattern} in ${PATIENCE_MS} ms: ${output()}`);
    await pause(POLL_MS);
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
  readonly stateDir: string;
  /** All that it printed. */
  readonly output: string;
  /** Resolves when `pattern` has been printed. */
  prints(pattern: RegExp): Promise<void>;
  /** Ends the server, whose rooms stay in `stateDir`. */
  end(): Promise<void>;
  /** Ends the server and forgets its rooms. */
  stop(): Promise<void>;
}

/** A server that can be killed. */
export interface ServerProcess extends TestServer {
  readonly group: ProcessGroup;
}

interface ServerOptions {
  readonly settings?: Readonly<Record<string, string>>;
  readonly stateDir?: string;
}

interface WorkerOptions extends ServerOptions {
  /** Another deployment than the one that server.setup.ts has built. */
  readonly deploymentFile?: string;
}

/** The environment variable that names the file with the deployment. */
export const DEPLOYMENT_FILE = "PARLEY_TEST_DEPLOYMENT";

/**
 * The Worker with the settings of development, on a free port, with rooms in a temporary directory, in a workerd that this process starts. It is
 * there in a second, and a request takes a fifth of its time behind `wrangler dev`; npm-commands.test.ts and serve.test.ts test `npm start` and
 * `npm run serve`.
 */
export async function startServer(options: WorkerOptions = {}): Promise<TestServer> {
  const { settings = {}, stateDir = newStateDir(), deploymentFile = process.env[DEPLOYMENT_FILE]! } = options;
  const { PORT: port = await freePort(), ...variables } = settings;
  const log = new ServerLog();
  const runtime = await runDeployment(
    deploymentFile,
    { JWT_SECRET: TEST_SECRET, ...variables },
    { port: Number(port), stateDir, write: (line) => log.add(line) },
  );
  return {
    url: `http://${HOST}:${port}`,
    port: Number(port),
    stateDir,
    get output() {
      return log.output;
    },
    prints: (pattern) => log.prints(pattern),
    end: () => runtime.stop(),
    stop: async () => {
      await runtime.stop();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

/** The same in a process of its own, which a test kills. */
export function startServerProcess(options: WorkerOptions = {}): Promise<ServerProcess> {
  const { deploymentFile = process.env[DEPLOYMENT_FILE]! } = options;
  return start(options, (stateDir) => ["test/outside/server-process.ts", deploymentFile, stateDir]);
}

/** The server of `npm start`, for tests of the behaviour of `wrangler dev`. */
export function startDevServer(options: ServerOptions = {}): Promise<ServerProcess> {
  return start(options, (stateDir) => ["scripts/dev-server.ts", "--state", stateDir]);
}

const newStateDir = (): string => mkdtempSync(path.join(tmpdir(), "parley-state-"));

async function start(
  { settings = {}, stateDir = newStateDir() }: ServerOptions,
  args: (stateDir: string) => string[],
): Promise<ServerProcess> {
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
  return {
    url: `http://${HOST}:${port}`,
    port,
    stateDir,
    group,
    get output() {
      return group.output;
    },
    prints: (pattern) => group.prints(pattern),
    end: () => group.stop(),
    stop,
  };
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
