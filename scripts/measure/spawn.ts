// Starts the processes of a bench or a crash test, each as a group of its own that is ended by its id. Called by peers.ts and bench.ts.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { pinTo } from "../process.ts";

const READY_MS_MAX = 180_000;
/** More than the longest result, with its rows of seconds. */
const OUTPUT_CHARS_KEPT = 4 * 1024 * 1024;

export interface Command {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The one that it is kept on. */
  readonly core?: number;
}

export class Process {
  output = "";
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;

  constructor({ args, env, core }: Command) {
    const [program, ...rest] = [...(core === undefined ? [] : pinTo(core)), ...args];
    this.#child = spawn(program!, rest, {
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    const keep = (chunk: Buffer): void => {
      this.output = (this.output + chunk.toString()).slice(-OUTPUT_CHARS_KEPT);
    };
    this.#child.stdout?.on("data", keep);
    this.#child.stderr?.on("data", keep);
    // A child that ends at once must not take us with it.
    this.#child.stdin?.on("error", () => undefined);
    this.#ended = new Promise((resolve) => this.#child.once("close", (code) => (running.delete(this), resolve(code))));
    running.add(this);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  write(input: string): void {
    this.#child.stdin?.end(input);
  }

  /** @returns the last line that it printed. @throws Error if it takes longer, or ends badly */
  async result(timeoutMs: number): Promise<string> {
    const timer = setTimeout(() => this.kill(), timeoutMs);
    const code = await this.#ended;
    clearTimeout(timer);
    if (code === null) throw new Error(`the generator was not done after ${timeoutMs} ms`);
    if (code !== 0) throw new Error(`the generator failed: ${this.output}`);
    return this.output.trimEnd().split("\n").at(-1) ?? "";
  }

  /** Resolves with the match when the pattern was printed. */
  async prints(pattern: RegExp): Promise<RegExpExecArray> {
    const untilMs = Date.now() + READY_MS_MAX;
    for (;;) {
      const match = pattern.exec(this.output);
      if (match) return match;
      const hasEnded = await Promise.race([this.#ended.then(() => true), pause()]);
      if (hasEnded) throw new Error(`it ended early: ${this.output}`);
      if (Date.now() > untilMs) throw new Error(`no ${pattern} within ${READY_MS_MAX} ms: ${this.output}`);
    }
  }

  /** Ends it and all that it started, by SIGKILL to all of them at once. */
  async stop(): Promise<void> {
    this.kill();
    await this.#ended;
  }

  kill(): void {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // No process is left.
    }
  }
}

const POLL_MS = 25;
const pause = (): Promise<false> => new Promise((resolve) => setTimeout(() => resolve(false), POLL_MS));

/** A folder for a server's state; it goes with the server, or with this process. */
export function newStateDir(): string {
  const stateDir = mkdtempSync(path.join(tmpdir(), "parley-measure-"));
  stateDirs.add(stateDir);
  return stateDir;
}

export function forgetStateDir(stateDir: string): void {
  rmSync(stateDir, { recursive: true, force: true });
  stateDirs.delete(stateDir);
}

const running = new Set<Process>();
const stateDirs = new Set<string>();
// Child processes end with this one, however that ends.
process.once("exit", () => {
  for (const one of running) one.kill();
  for (const stateDir of stateDirs) forgetStateDir(stateDir);
});
