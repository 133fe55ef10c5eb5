// Folders with a Worker of somebody, for the tests of create-parley and of the doctor.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/** Makes a folder that goes with the test. @param files texts by path */
export function folderOf(files: Readonly<Record<string, string>>): string {
  // Blanks are usual on some systems.
  const folder = mkdtempSync(path.join(tmpdir(), "a worker "));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

export const textIn = (folder: string, name: string): string => readFileSync(path.join(folder, name), "utf8");
