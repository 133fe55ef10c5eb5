// Reads the command lines of the npm commands, and ends a command that fails with the reason. Called by the scripts that package.json names; the
// folder help has the usage of each.
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs, type ParseArgsConfig } from "node:util";

/** The reason is in the arguments: the usage follows it. */
export class UsageError extends Error {}

/** @param command an npm command's name */
export function helpOf(command: string): string {
  return readFileSync(path.join(import.meta.dirname, "help", `${command}.txt`), "utf8").trimEnd();
}

/**
 * Runs a command. If it fails, prints the reason without a stack.
 * @param run returns the exit code; without one, the process goes on until it has nothing left to do
 * @param failed the exit code of a command that fails
 */
export async function runCommand(name: string, run: () => Promise<number | void>, failed = 1): Promise<void> {
  try {
    const code = await run();
    if (code !== undefined) process.exit(code);
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    console.error(isUsageError(error) ? `${String(reason)}\n${helpOf(name)}` : reason);
    process.exit(failed);
  }
}

/** Those of `parseArgs` as well. */
const isUsageError = (error: unknown): boolean =>
  error instanceof UsageError || (error as NodeJS.ErrnoException).code?.startsWith("ERR_PARSE_ARGS") === true;

/**
 * Ends the process with a sentence and the usage if an option is unknown, or its value is missing or empty.
 * @param usage of the command
 */
export function readOptions<Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    const parsed = parseArgs(config);
    const empty = Object.entries(parsed.values).find(([, value]) => value === "")?.[0];
    // In a shell, that is a variable without a value.
    if (empty !== undefined) throw new TypeError(`Option '--${empty}' has an empty value.`);
    return parsed;
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    process.exit(1);
  }
}

export type Values = Readonly<Record<string, string | boolean | undefined>>;

/** @throws UsageError with the option's allowed values */
export function number(values: Values, name: string, usual: number, min: number, max: number): number {
  const text = values[name];
  if (text === undefined) return usual;
  const value = Number(text);
  if (text === "" || !Number.isFinite(value) || value < min || value > max)
    throw new UsageError(`--${name} must be a number from ${min} to ${max}, not "${String(text)}".`);
  return value;
}

/** @throws UsageError with the option's allowed values */
export function whole(values: Values, name: string, usual: number, min: number, max: number): number {
  const value = number(values, name, usual, min, max);
  if (!Number.isInteger(value))
    throw new UsageError(`--${name} must be a whole number from ${min} to ${max}, not ${value}.`);
  return value;
}

/** Nothing chosen means everything. @throws UsageError with the names that there are */
export function choose(kind: string, chosen: readonly string[], all: readonly string[]): readonly string[] {
  const odd = chosen.find((name) => !all.includes(name));
  if (odd !== undefined) throw new UsageError(`There is no ${kind} "${odd}"; there are ${all.join(", ")}.`);
  return chosen.length === 0 ? all : all.filter((name) => chosen.includes(name));
}
