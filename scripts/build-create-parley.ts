// Builds the package create-parley into dist/create-parley, from where it is packed and published. The tests of the templates call it, too.
import { cp, mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";

import { build } from "esbuild";

import { PROJECT_ROOT } from "./local-variables.ts";

const SOURCE = path.join(PROJECT_ROOT, "scripts", "create-parley");
export const CREATE_PARLEY = path.join(PROJECT_ROOT, "dist", "create-parley");

/** Files that a trial of a template leaves behind. */
const LEFT_BEHIND = new Set(["node_modules", ".wrangler", ".dev.vars", "package-lock.json", "page.js"]);

export async function buildCreateParley(): Promise<void> {
  await rm(CREATE_PARLEY, { recursive: true, force: true });
  await mkdir(CREATE_PARLEY, { recursive: true });
  await build({
    entryPoints: [path.join(SOURCE, "main.ts")],
    outfile: path.join(CREATE_PARLEY, "main.js"),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    logLevel: "warning",
  });
  for (const file of ["package.json", "README.md"]) await cp(path.join(SOURCE, file), path.join(CREATE_PARLEY, file));
  await cp(path.join(PROJECT_ROOT, "LICENSE"), path.join(CREATE_PARLEY, "LICENSE"));
  const templates = path.join(CREATE_PARLEY, "templates");
  await cp(path.join(SOURCE, "templates"), templates, {
    recursive: true,
    filter: (file) => !LEFT_BEHIND.has(path.basename(file)),
  });
  // npm leaves out files of that name; new-project.ts gives it back.
  for (const template of ["chat", "socketio"])
    await rename(path.join(templates, template, ".gitignore"), path.join(templates, template, "gitignore"));
}

if (import.meta.main) await buildCreateParley();
