// The texts of `npm run NAME -- --help`. Called by run.mjs, and by commands for unknown arguments.
import { readFileSync } from "node:fs";
import path from "node:path";

/** @param command an npm command's name */
export function helpOf(command: string): string {
  return readFileSync(path.join(import.meta.dirname, "help", `${command}.txt`), "utf8").trimEnd();
}
