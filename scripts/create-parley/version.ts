// The package that new projects depend on. The version of create-parley is that of parley-rooms: both are released together.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const manifest = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

export const PACKAGE = "parley-rooms";
export const VERSION = manifest.version;

/** The package that `npm run packages` leaves beside this one, in a clone of the repository. */
const built = fileURLToPath(new URL(`../${PACKAGE}-${VERSION}.tgz`, import.meta.url));

/** For the dependencies of a project: the release, or the package of the clone that this runs in. */
export const RANGE = existsSync(built) ? `file:${built}` : `^${VERSION}`;
