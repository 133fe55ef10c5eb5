// The packages of the projects that the tests make, installed by npm: ours from its tarball with what it depends on, once in a run; all others from the
// registry, once on a machine. A project gets links to those that its package.json names, and can import no others. Called by consumer.ts, and by
// tests of projects.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { satisfies, valid } from "semver";

import { documentedPackages } from "./documented-project.ts";
import { once } from "./once.ts";
import { ensureInstalled, execute, folderOf } from "./packages.ts";
import { PROJECT_ROOT } from "./servers.ts";
import { packPackages } from "./tarballs.ts";

const INSTALL = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];

/** Their packages are installed. */
const PROJECTS = [
  "test/outside/consumer",
  "test/outside/hono-worker",
  "scripts/create-parley/templates/chat",
  "scripts/create-parley/templates/socketio",
  "scripts/create-parley/templates/engine",
  "docs/examples/react-chat",
  "docs/examples/typing-race",
];
const DOCUMENTS = ["testing.md", "in-your-worker.md"];

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly bin?: string | Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

type Ranges = Readonly<Record<string, string>>;

/** @returns the folder with all of them */
async function installPackages(): Promise<string> {
  const { parley } = await packPackages();
  // Folders of users have spaces, too.
  const folder = await once("installed packages", async (made) => {
    const ranges = [
      ...DOCUMENTS.map(documentedPackages),
      ...PROJECTS.map((project) => rangesOf(path.join(PROJECT_ROOT, project))),
    ];
    // An exact version is in the range that another project gives.
    const { "parley-rooms": _, ...all } = Object.fromEntries(
      ranges
        .flatMap(Object.entries)
        .toSorted(([, one], [, other]) => Number(valid(one) !== null) - Number(valid(other) !== null)),
    );
    const [needed, others] = parted(all, Object.keys(manifestOf(PROJECT_ROOT).dependencies ?? {}));
    writeManifest(made, { ...needed, "parley-rooms": `file:${parley}` });
    await execute(["npm", ...INSTALL], { cwd: made });
    linkAll(await installOthers(others), path.join(made, "node_modules"));
  });
  return path.join(folder, "node_modules");
}

/** Packages that depend on nothing of ours are installed once on a machine. @returns their folder */
async function installOthers(dependencies: Ranges): Promise<string> {
  const scratch = mkdtempSync(path.join(tmpdir(), "parley-others-"));
  writeManifest(scratch, dependencies);
  const folder = folderOf("npm", path.join(scratch, "package.json"));
  rmSync(scratch, { recursive: true });
  const obstacle = await ensureInstalled({
    folder,
    tools: ["npm"],
    prepare: () => writeManifest(folder, dependencies),
    install: [["npm", "--prefix", folder, ...INSTALL]],
  });
  if (obstacle !== undefined) throw new Error(obstacle);
  return path.join(folder, "node_modules");
}

function writeManifest(folder: string, dependencies: Ranges): void {
  mkdirSync(folder, { recursive: true });
  const allowScripts = { esbuild: true, sharp: false, workerd: true };
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ private: true, dependencies, allowScripts }));
}

/** @returns those of some names, and all others, in an order of their own */
function parted(ranges: Ranges, names: readonly string[]): [Ranges, Ranges] {
  const sorted = Object.entries(ranges).toSorted(([one], [other]) => one.localeCompare(other));
  const part = (isNamed: boolean): Ranges =>
    Object.fromEntries(sorted.filter(([name]) => names.includes(name) === isNamed));
  return [part(true), part(false)];
}

/** Every package of a folder that the other one has not. */
function linkAll(from: string, to: string): void {
  const names = readdirSync(from).flatMap((name) =>
    name.startsWith("@") ? readdirSync(path.join(from, name)).map((of) => path.join(name, of)) : [name],
  );
  for (const name of names)
    if (!name.startsWith(".") && !existsSync(path.join(to, name))) link(path.join(from, name), path.join(to, name));
}

/** Gives a project what `npm install` would give it. Rejects if a version is none that its package.json allows. */
export async function linkPackages(project: string): Promise<void> {
  const [{ parley }, all] = [await packPackages(), await installPackages()];
  const own = path.join(project, "node_modules");
  for (const [name, range] of Object.entries(rangesOf(project))) {
    const target = path.join(all, name);
    const installed = manifestOf(target);
    if (range !== `file:${parley}` && !range.startsWith("npm:") && !satisfies(installed.version, range))
      throw new Error(`${project} needs ${name} ${range}, not ${installed.version}`);
    link(target, path.join(own, name));
    // The second version of a package is there under another name, and its commands are those of the first.
    if (name !== installed.name) continue;
    const { bin = {} } = installed;
    const commands = typeof bin === "string" ? { [path.basename(name)]: bin } : bin;
    for (const [command, file] of Object.entries(commands))
      link(path.join(target, file), path.join(own, ".bin", command));
  }
}

function rangesOf(project: string): Ranges {
  const { dependencies, devDependencies } = manifestOf(project);
  return { ...dependencies, ...devDependencies };
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Manifest;

function link(target: string, file: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  symlinkSync(target, file);
}
