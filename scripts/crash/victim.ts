// The server that is killed: `npm run serve`, always at the same address and over the same folder.
import path from "node:path";

import { forgetStateDir, newStateDir, Process } from "../bench/spawn.ts";
import { PARLEY_SETTINGS } from "../bench/peers.ts";
import { PROJECT_ROOT } from "../local-variables.ts";
import { freePort } from "../port.ts";

const HOST = "127.0.0.1";
export const SECRET = "a-secret-that-only-the-crash-rounds-know";

/** Limits against floods, which looking at everything would trip over. */
const SETTINGS = { ...PARLEY_SETTINGS, API_RATE: "10000", API_BURST: "10000" };

export class Victim {
  readonly origin: string;
  readonly #port: number;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #stateDir: string;
  #process: Process | undefined;

  private constructor(port: number, settings: Readonly<Record<string, string>>, stateDir: string) {
    this.origin = `http://${HOST}:${port}`;
    this.#port = port;
    this.#settings = settings;
    this.#stateDir = stateDir;
  }

  /** @param stateDir where rooms are kept; without it in a folder that goes with the server */
  static async make(settings: Readonly<Record<string, string>>, stateDir = newStateDir()): Promise<Victim> {
    return new Victim(await freePort(HOST), settings, stateDir);
  }

  /** Starts it, without waiting for it. */
  spawn(): Process {
    this.#process = new Process({
      args: [process.execPath, path.join(PROJECT_ROOT, "scripts", "self-host.ts"), "--state", this.#stateDir],
      env: { JWT_SECRET: SECRET, ...SETTINGS, ...this.#settings, HOST, PORT: String(this.#port) },
    });
    return this.#process;
  }

  /** Starts it, and waits until it answers. */
  async start(): Promise<void> {
    await this.spawn().prints(/Ready on/);
  }

  /** SIGKILL to all of its processes at once. */
  async kill(): Promise<void> {
    await this.#process?.stop();
  }

  /** Its last output. */
  get output(): string {
    return this.#process?.output ?? "";
  }

  async forget(): Promise<void> {
    await this.kill();
    forgetStateDir(this.#stateDir);
  }
}
