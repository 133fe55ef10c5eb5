// Makes a project of a template. Called by main.ts.
import { randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";

import { Refusal } from "./refusal.ts";
import { withButton } from "./repository.ts";
import { RANGE } from "./version.ts";

export const TEMPLATES = new URL("templates/", import.meta.url);

/** npm leaves files of these names out of a package. */
const RENAMED = { gitignore: ".gitignore" };

/** Names that a folder may have before: some users run `git init` first. */
const IS_HARMLESS = new Set([".git", ".DS_Store"]);

const FOLDER_BYTES_MAX = 255;

export interface NewProject {
  readonly folder: string;
  readonly template: "chat" | "socketio";
  readonly name: string;
  /** As `github.com/owner/name`, if there is one. */
  readonly repository?: string | undefined;
}

/** @throws Refusal where the folder has files, or is one */
export function makeProject({ folder, template, name, repository }: NewProject): void {
  checkFolder(folder);
  mkdirSync(folder, { recursive: true });
  cpSync(new URL(`${template}/`, TEMPLATES), folder, { recursive: true });
  for (const [packed, real] of Object.entries(RENAMED)) {
    const file = path.join(folder, packed);
    if (existsSync(file)) renameSync(file, path.join(folder, real));
  }
  for (const file of ["package.json", "wrangler.jsonc", "README.md"])
    edit(path.join(folder, file), (text) => text.replaceAll(`parley-${template}-template`, name));
  edit(path.join(folder, "README.md"), (text) => withButton(text, repository));
  edit(path.join(folder, "package.json"), (text) => text.replace(/("parley-rooms": )"[^"]*"/, `$1"${RANGE}"`));
  // The secret of this machine. The example stays, for others who clone the project.
  const example = path.join(folder, ".dev.vars.example");
  if (existsSync(example)) {
    const secret = randomBytes(32).toString("base64url");
    const vars = readFileSync(example, "utf8").replace(/^JWT_SECRET=.*$/m, `JWT_SECRET=${secret}`);
    writeFileSync(path.join(folder, ".dev.vars"), vars, { mode: 0o600 });
  }
}

/** @throws Refusal where the folder has files, is one, or cannot be made */
export function checkFolder(folder: string): void {
  // The longest name of a folder on Linux, macOS and Windows.
  if (Buffer.byteLength(path.basename(folder)) > FOLDER_BYTES_MAX)
    throw new Refusal(`The name of the folder is too long: ${FOLDER_BYTES_MAX} bytes at most.`);
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory()) throw new Refusal(`${folder} is a file.`);
  const files = readdirSync(folder).filter((name) => !IS_HARMLESS.has(name));
  if (files.length === 0) return;
  const shown = files.slice(0, 5).join(", ") + (files.length > 5 ? ", …" : "");
  throw new Refusal(
    `${folder} is not empty (${shown}). Choose another folder, or --template existing for the Worker in it.`,
  );
}

function edit(file: string, change: (text: string) => string): void {
  if (existsSync(file)) writeFileSync(file, change(readFileSync(file, "utf8")));
}
