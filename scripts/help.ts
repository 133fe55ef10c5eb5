// The texts that `npm run NAME -- --help` shows (run.mjs prints them), for commands that were given what they do not know.
import { readFileSync } from "node:fs";
import path from "node:path";

/** @param command an npm command's name */
export function helpOf(command: string): string {
  return readFileSync(path.join(import.meta.dirname, "help", `${command}.txt`), "utf8").trimEnd();
}
