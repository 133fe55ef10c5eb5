// Starts and stops the servers of the outside tests.
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { freePort as freePortOf } from "../../scripts/port.ts";
import { ProcessGroup, untilPrinted } from "../../scripts/process-group.ts";
import { runtimeLine } from "../../scripts/serve/runtime-log.ts";
import { HOST, runDeployment } from "./deployment.ts";

export { HOST, ProcessGroup };

export const PROJECT_ROOT = path.join(import.meta.dirname, "..", "..");
/** The secret that test servers get and test tokens are signed with. */
export const TEST_SECRET = "a-secret-that-only-the-outside-tests-know";

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

interface WorkerOptions {
  readonly settings?: Readonly<Record<string, string>>;
  readonly stateDir?: string;
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

const newStateDir = (): string => mkdtempSync(path.join(tmpdir(), "parley-state-"));

/** The same in a process of its own, which a test kills. */
export async function startServerProcess(options: WorkerOptions = {}): Promise<ServerProcess> {
  const { settings = {}, stateDir = newStateDir(), deploymentFile = process.env[DEPLOYMENT_FILE]! } = options;
  const port = Number(settings["PORT"] ?? (await freePort()));
  const group = new ProcessGroup({
    args: ["test/outside/server-process.ts", deploymentFile, stateDir],
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
