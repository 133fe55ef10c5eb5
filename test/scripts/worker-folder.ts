// Folders with an application's Worker, for the tests of create-parley and of the doctor.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

export const ROOT = path.join(import.meta.dirname, "../..");

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

/** Gives a folder packages of this repository, as npm would have installed them. */
export function linkPackages(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const link = path.join(folder, "node_modules", name);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(name === "parley-rooms" ? ROOT : path.join(ROOT, "node_modules", name), link);
  }
}
