// Makes a project of a template: copies it, fills in names, and adds a secret for this machine. Called by command.ts.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** A reason to stop, for the reader. Thrown by all of create-parley; main.ts prints it without a stack. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

const PACKAGE = "parley-rooms";

/** That of create-parley is that of parley-rooms, because both are released together. */
export const { version: VERSION } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

/** The package that `npm run packages` leaves beside this one, in a clone of the repository. */
const built = fileURLToPath(new URL(`../${PACKAGE}-${VERSION}.tgz`, import.meta.url));

/** For the dependencies of a project: the release, or the package of the clone that this runs in. */
const RANGE = existsSync(built) ? `file:${built}` : `^${VERSION}`;

/** The same for `npm install`. */
export const TO_INSTALL = existsSync(built) ? JSON.stringify(built) : PACKAGE;

const TEMPLATES = new URL("templates/", import.meta.url);

/** npm leaves files of these names out of a package. */
const RENAMED = { gitignore: ".gitignore" };

/** Names that a folder may have before: some users run `git init` first. */
const IS_HARMLESS = new Set([".git", ".DS_Store"]);

/** The longest name of a folder on Linux, macOS and Windows. */
const FOLDER_BYTES_MAX = 255;

/** The folders of templates/. */
export type Template = "chat" | "socketio" | "engine";

export interface NewProject {
  readonly folder: string;
  readonly template: Template;
  readonly name: string;
  /** As `github.com/owner/name`, if there is one. */
  readonly repository?: string | undefined;
}

/** @throws Refusal if the folder has files, or is one */
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

/** @throws Refusal if the folder has files, is one, or cannot be made */
export function checkFolder(folder: string): void {
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
  writeFileSync(file, change(readFileSync(file, "utf8")));
}

/** As in the READMEs of the templates. */
const PLACEHOLDER = "github.com/OWNER/REPOSITORY";

const REMOTE =
  /^(?:https:\/\/(?:[^@/]+@)?|ssh:\/\/git@|git@)?(github\.com|gitlab\.com)[/:]([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/;

/**
 * @param text `owner/name` on GitHub, or an address on GitHub or GitLab, which the button can read
 * @returns `github.com/owner/name`
 * @throws Refusal
 */
export function repositoryOf(text: string): string {
  const found = repositoryAt(text) ?? (/^[\w.-]+\/[\w.-]+$/.test(text) ? `github.com/${text}` : undefined);
  if (found === undefined)
    throw new Refusal(`The repository "${text}" is neither owner/name nor an address on GitHub or GitLab.`);
  return found;
}

/** @returns that of the remote `origin` of a folder which is a repository itself, if the button can read it */
export function remoteOf(folder: string): string | undefined {
  if (!existsSync(path.join(folder, ".git"))) return undefined;
  const { stdout } = spawnSync("git", ["config", "--get", "remote.origin.url"], { cwd: folder, encoding: "utf8" });
  return repositoryAt((stdout ?? "").trim());
}

function repositoryAt(address: string): string | undefined {
  const [, host, name] = REMOTE.exec(address) ?? [];
  return host === undefined ? undefined : `${host}/${name}`;
}

/** @returns the README with a "Deploy to Cloudflare" button for that repository; without one, with a sentence that says how to add it */
function withButton(readme: string, repository: string | undefined): string {
  if (repository !== undefined) return readme.replace(PLACEHOLDER, repository);
  const [button] = /^\[!\[Deploy to Cloudflare\].*$/m.exec(readme)!;
  return readme
    .replace(`${button}\n\n`, "")
    .replace(
      "The button deploys this project",
      `Once it has a repository, write this line at the top, with yours in the place of \`OWNER/REPOSITORY\`: \`${button}\`. The button deploys this project`,
    );
}
