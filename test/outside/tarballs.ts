// Packs the packages as a release does, in a copy of the repository, because other tests use its dist meanwhile. Called by tests of what
// somebody gets who installs them.
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import path from "node:path";

import { execute } from "./packages.ts";
import { PROJECT_ROOT } from "./servers.ts";

const PACK_MS_MAX = 120_000;
/** What is made, and what npm installed. */
const NOT_COPIED = new Set([".git", ".bench", ".wrangler", "dist", "node_modules"]);

export interface Tarballs {
  readonly parley: string;
  readonly create: string;
}

/** @param folder a folder for the copy and the tarballs */
export async function packPackages(folder: string): Promise<Tarballs> {
  const copy = path.join(folder, "repository");
  cpSync(PROJECT_ROOT, copy, { recursive: true, filter: (file) => !NOT_COPIED.has(path.relative(PROJECT_ROOT, file)) });
  symlinkSync(path.join(PROJECT_ROOT, "node_modules"), path.join(copy, "node_modules"));
  const tarballs = path.join(folder, "tarballs");
  mkdirSync(tarballs);
  const pack = (of: string): Promise<string> =>
    execute(["npm", "pack", "--silent", "--pack-destination", tarballs], PACK_MS_MAX, { cwd: of });
  await execute([process.execPath, "scripts/build-create-parley.ts"], PACK_MS_MAX, { cwd: copy });
  await Promise.all([pack(copy), pack(path.join(copy, "dist", "create-parley"))]);
  const named = (start: string): string =>
    path.join(
      tarballs,
      readdirSync(tarballs).find((name) => name.startsWith(start) && name.endsWith(".tgz"))!,
    );
  return { parley: named("parley-rooms"), create: named("create-parley") };
}
