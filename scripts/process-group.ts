// A program that runs as a process group of its own, which is ended by its id, so that nothing it started stays behind. Called by the measuring
// scripts, the screenshots, and the outside tests.
import { spawn, type ChildProcess } from "node:child_process";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";

import { pinTo, processesOfGroup } from "./process.ts";

const STOP_TIMEOUT_MS = 8000;
/** It only ends what hangs. */
const PRINTED_MS_MAX = 120_000;
const POLL_MS = 50;

interface Command {
  /** Default: Node. */
  readonly program?: string;
  readonly args: readonly string[];
  /** On top of this process's own; `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** For its standard input. */
  readonly input?: string;
  /** The one that it is kept on. */
  readonly core?: number | undefined;
}

/** A command with all its child processes; keeps their output. */
export class ProcessGroup {
  stdout = "";
  stderr = "";
  readonly #child: ChildProcess;
  readonly #exit: Promise<number | string>;
  #ended: number | string | undefined;

  constructor({ program = process.execPath, args, env, input, core }: Command) {
    const [first, ...rest] = [...(core === undefined ? [] : pinTo(core)), program, ...args];
    this.#child = spawn(first!, rest, {
      cwd: path.join(import.meta.dirname, ".."),
      detached: true,
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.#child.stderr?.on("data", (chunk: Buffer) => (this.stderr += chunk.toString()));
    // One that ends at once must not take us with it.
    this.#child.stdin?.on("error", () => undefined).end(input);
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
    return processesOfGroup(this.pid);
  }

  /** Kills all processes of the group at once. */
  killAll(): void {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // No process is left.
    }
  }

  /** The same; resolves when they are gone. */
  async kill(): Promise<void> {
    this.killAll();
    await this.#exit;
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

/** @param output all that was printed so far; it throws where no more will come */
export async function untilPrinted(pattern: RegExp, output: () => string): Promise<void> {
  const deadlineMs = Date.now() + PRINTED_MS_MAX;
  while (!pattern.test(output())) {
    if (Date.now() > deadlineMs) throw new Error(`no ${pattern} in ${PRINTED_MS_MAX} ms: ${output()}`);
    await pause(POLL_MS);
  }
}

const running = new Set<ProcessGroup>();
// However this process ends, what it started ends with it.
process.once("exit", () => {
  for (const group of running) group.killAll();
});
