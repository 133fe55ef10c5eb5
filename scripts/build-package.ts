// Builds all that the package has and the repository does not, into dist/: `npm pack` and `npm publish` call it, by the name of prepack.
import { rm } from "node:fs/promises";

import { buildClient } from "./build-client.ts";
import { buildCommand } from "./package/command.ts";
import { emitLibrary, LIBRARY } from "./package/emit.ts";

try {
  // Files whose source is gone would be packed, too.
  await rm(LIBRARY, { recursive: true, force: true });
  await Promise.all([emitLibrary(), buildClient(), buildCommand()]);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
