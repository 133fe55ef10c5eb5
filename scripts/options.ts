// Reads the options of a command. The npm commands that run for a person call it.
import { parseArgs, type ParseArgsConfig } from "node:util";

/**
 * Ends the process with a sentence and the usage if an option is unknown, or its value is missing or empty.
 * @param usage of the command: the text of help.ts
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
