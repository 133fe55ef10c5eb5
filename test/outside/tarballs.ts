// Packs the packages as a release does, in a copy of the repository, because other tests use its dist meanwhile. Called by tests of the installed
// packages.
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import path from "node:path";

import { once } from "./once.ts";
import { execute } from "./packages.ts";
import { PROJECT_ROOT } from "./servers.ts";

/** The tarballs, and the packages that npm installed. */
const NOT_COPIED = new Set([".git", ".bench", ".wrangler", "dist", "node_modules"]);

export interface Tarballs {
  readonly parley: string;
  readonly create: string;
}

/** Packed once in a run of the tests. */
export async function packPackages(): Promise<Tarballs> {
  const folder = path.join(await once("packed", pack), "tarballs");
  const named = (start: string): string =>
    path.join(
      folder,
      readdirSync(folder).find((name) => name.startsWith(start) && name.endsWith(".tgz"))!,
    );
  return { parley: named("parley-rooms"), create: named("create-parley") };
}

async function pack(folder: string): Promise<void> {
  const copy = path.join(folder, "repository");
  cpSync(PROJECT_ROOT, copy, { recursive: true, filter: (file) => !NOT_COPIED.has(path.relative(PROJECT_ROOT, file)) });
  symlinkSync(path.join(PROJECT_ROOT, "node_modules"), path.join(copy, "node_modules"));
  const tarballs = path.join(folder, "tarballs");
  mkdirSync(tarballs);
  const packFolder = (of: string): Promise<string> =>
    execute(["npm", "pack", "--silent", "--pack-destination", tarballs], { cwd: of });
  await execute([process.execPath, "scripts/build-create-parley.ts"], { cwd: copy });
  await Promise.all([packFolder(copy), packFolder(path.join(copy, "dist", "create-parley"))]);
}
