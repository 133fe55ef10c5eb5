// The package that new projects depend on. The version of create-parley is that of parley-rooms: both are released together.
import { readFileSync } from "node:fs";

const manifest = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

export const PACKAGE = "parley-rooms";
export const VERSION = manifest.version;
export const RANGE = `^${VERSION}`;
