// Reads the options of a command. The npm commands that run for a person call it.
import { parseArgs, type ParseArgsConfig } from "node:util";

/**
 * Ends the process with a sentence and the usage if an option is unknown, or lacks its value.
 * @param usage of the command: the text of help.ts
 */
export function readOptions<Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    process.exit(1);
  }
}
