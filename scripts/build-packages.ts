// `npm run packages`: builds both packages into dist/, as a release publishes them: create-parley as a folder, parley-rooms as a tarball beside
// it, which the projects of that create-parley use. The tests of the installed packages call it, too.
import { execFile } from "node:child_process";
import { cp, mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { PROJECT_ROOT } from "./local-variables.ts";
import { helpOf, readOptions } from "./options.ts";
import { bundleCommand } from "./package/command.ts";

const SOURCE = path.join(PROJECT_ROOT, "scripts", "create-parley");
const DIST = path.join(PROJECT_ROOT, "dist");
const CREATE_PARLEY = path.join(DIST, "create-parley");

/** Files that a trial of a template leaves behind. */
const LEFT_BEHIND = new Set(["node_modules", ".wrangler", ".dev.vars", "package-lock.json", "page.js"]);

async function buildCreateParley(): Promise<void> {
  await rm(CREATE_PARLEY, { recursive: true, force: true });
  await mkdir(CREATE_PARLEY, { recursive: true });
  // npm downloads nothing else, and the folder runs as it is.
  await bundleCommand("create-parley/main.ts", path.join(CREATE_PARLEY, "main.js"));
  for (const file of ["package.json", "README.md"]) await cp(path.join(SOURCE, file), path.join(CREATE_PARLEY, file));
  await cp(path.join(PROJECT_ROOT, "LICENSE"), path.join(CREATE_PARLEY, "LICENSE"));
  const templates = path.join(CREATE_PARLEY, "templates");
  await cp(path.join(SOURCE, "templates"), templates, {
    recursive: true,
    filter: (file) => !LEFT_BEHIND.has(path.basename(file)),
  });
  // npm leaves out files of that name; new-project.ts gives it back.
  for (const template of ["chat", "socketio", "engine"])
    await rename(path.join(templates, template, ".gitignore"), path.join(templates, template, "gitignore"));
}

readOptions(helpOf("packages"), { options: {} });
await buildCreateParley();
await promisify(execFile)("npm", ["pack", "--silent", "--pack-destination", DIST], { cwd: PROJECT_ROOT });
console.log(`Both packages are in ${DIST}. Until they are published, this begins a project, with the package of this clone:

  npx --package=${JSON.stringify(`file:${CREATE_PARLEY}`)} create-parley my-chat --template chat
`);
