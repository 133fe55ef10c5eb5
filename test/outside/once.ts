// Things that several files of tests need and that take long to make: the first that asks makes them, in its process, and all others wait for that. The set-up
// of the tests (server.setup.ts) removes it at the end. Called by tarballs.ts, consumer.ts, installation.ts and engine-worker.ts.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { DEPLOYMENT_FILE } from "./servers.ts";

const POLL_MS = 100;

/** @returns the folder that `make` has filled; rejects with the error that it had, in all processes */
export async function once(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = path.join(path.dirname(process.env[DEPLOYMENT_FILE]!), name);
  const end = path.join(`${folder}.making`, "end.json");
  if (begins(path.dirname(end))) {
    mkdirSync(folder);
    const error = await make(folder).then(
      () => null,
      (reason: unknown) => String(reason),
    );
    writeFileSync(`${end}.new`, JSON.stringify({ error }));
    renameSync(`${end}.new`, end);
  }
  while (!existsSync(end)) await sleep(POLL_MS);
  const { error } = JSON.parse(readFileSync(end, "utf8")) as { error: string | null };
  if (error !== null) throw new Error(`${name}: ${error}`);
  return folder;
}

/** Whether this process is the first. */
function begins(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
