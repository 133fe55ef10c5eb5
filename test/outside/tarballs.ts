// Packs the packages as a release does, in a copy of the repository, because other tests use its dist meanwhile. Called by tests of the installed
// packages.
import { cpSync, readdirSync, symlinkSync } from "node:fs";
import path from "node:path";

import { once } from "./once.ts";
import { execute } from "./packages.ts";
import { PROJECT_ROOT } from "./servers.ts";

/** The tarballs, and the packages that npm installed. */
const NOT_COPIED = new Set([".git", ".bench", ".wrangler", "dist", "node_modules"]);

export interface Tarballs {
  readonly parley: string;
  readonly create: string;
  /** create-parley as `npm run packages` leaves it in a clone. */
  readonly createFolder: string;
}

/** Packed once in a run of the tests. */
export async function packPackages(): Promise<Tarballs> {
  const dist = path.join(await once("packed", pack), "dist");
  const named = (start: string): string =>
    path.join(
      dist,
      readdirSync(dist).find((name) => name.startsWith(start) && name.endsWith(".tgz"))!,
    );
  return {
    parley: named("parley-rooms"),
    create: named("create-parley"),
    createFolder: path.join(dist, "create-parley"),
  };
}

async function pack(folder: string): Promise<void> {
  cpSync(PROJECT_ROOT, folder, {
    recursive: true,
    filter: (file) => !NOT_COPIED.has(path.relative(PROJECT_ROOT, file)),
  });
  symlinkSync(path.join(PROJECT_ROOT, "node_modules"), path.join(folder, "node_modules"));
  await execute([process.execPath, "scripts/build-packages.ts"], { cwd: folder });
  await execute(["npm", "pack", "--silent", "./create-parley"], { cwd: path.join(folder, "dist") });
}
