// Starts the processes of a bench, each on the core it belongs to, as a group of its own that is ended by its id.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { pinTo } from "../process.ts";

export const SERVER_CORE = 0;
export const GENERATOR_CORE = 1;

const READY_MS_MAX = 60_000;
/** More than the longest result: of a race, with its points of two seconds. */
const OUTPUT_CHARS_KEPT = 256 * 1024;
/** Runs a command with as many open files as the system lets this user have: a connection is a file on both sides. */
const WITH_ALL_FILES = ["sh", "-c", 'ulimit -n "$(ulimit -Hn)" && exec "$@"', "sh"];

export interface Command {
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The one that it is kept on. */
  readonly core?: number;
}

export class Process {
  output = "";
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;

  constructor({ args, cwd, env, core }: Command) {
    const [program, ...rest] = [...(core === undefined ? [] : pinTo(core)), ...WITH_ALL_FILES, ...args];
    this.#child = spawn(program!, rest, {
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      ...(cwd && { cwd }),
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

  /** Part of its output. */
  get lastLine(): string {
    return this.output.trimEnd().split("\n").at(-1) ?? "";
  }

  /** @throws Error where it takes longer, or ends badly */
  async endsWithin(timeoutMs: number): Promise<void> {
    const timer = setTimeout(() => this.kill(), timeoutMs);
    const code = await this.#ended;
    clearTimeout(timer);
    if (code === null) throw new Error(`the generator was not done after ${timeoutMs} ms`);
    if (code !== 0) throw new Error(`the generator failed: ${this.output}`);
  }

  /** Resolves with the match once the pattern was printed. */
  async prints(pattern: RegExp, timeoutMs = READY_MS_MAX): Promise<RegExpExecArray> {
    const startedMs = Date.now();
    for (;;) {
      const match = pattern.exec(this.output);
      if (match) return match;
      const hasEnded = await Promise.race([this.#ended.then(() => true), pause()]);
      if (hasEnded) throw new Error(`it ended early: ${this.output}`);
      if (Date.now() - startedMs > timeoutMs) throw new Error(`no ${pattern} within ${timeoutMs} ms: ${this.output}`);
    }
  }

  /** Ends it and all that it started. */
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

/** A folder for a server's state; it goes with the server, or with the bench. */
export function newStateDir(): string {
  const stateDir = mkdtempSync(path.join(tmpdir(), "parley-bench-"));
  stateDirs.add(stateDir);
  return stateDir;
}

export function forgetStateDir(stateDir: string): void {
  rmSync(stateDir, { recursive: true, force: true });
  stateDirs.delete(stateDir);
}

const running = new Set<Process>();
const stateDirs = new Set<string>();
// Its child processes end with the bench, however that ends.
process.once("exit", () => {
  for (const one of running) one.kill();
  for (const stateDir of stateDirs) forgetStateDir(stateDir);
});
