#!/usr/bin/env node
// The command of the package, `npx parley-rooms`. npm runs this as the bin of parley-rooms.
import { doctor } from "../doctor/command.ts";
import { token } from "./token.ts";

/** Each gets the arguments behind its name, and returns the exit code. A bad argument throws a TypeError. */
const COMMANDS: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = { doctor, token };

const HELP = `Usage: npx parley-rooms COMMAND

  doctor   names what a deployment lacks
  token    prints a token for the Worker in this folder

Each explains itself with --help.
`;

const EXIT_USAGE = 2;

const [name = "--help", ...args] = process.argv.slice(2);
try {
  process.exitCode = await run();
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(`${error.message}\nnpx parley-rooms ${name} --help shows all options.`);
  process.exitCode = EXIT_USAGE;
}

async function run(): Promise<number> {
  if (Object.hasOwn(COMMANDS, name)) return COMMANDS[name]!(args);
  const isAsked = name === "--help" || name === "-h";
  (isAsked ? process.stdout : process.stderr).write(isAsked ? HELP : `There is no command "${name}".\n\n${HELP}`);
  return isAsked ? 0 : EXIT_USAGE;
}
