// A release that is kept in test/releases, to be served or used beside the code of today. Called by the tests of releases.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { DatabaseSync } from "node:sqlite";
import { brotliDecompressSync } from "node:zlib";

import type { V4WorkerOptions } from "miniflare";

import type { ConnectOptions, Room } from "../../client/core/api.ts";
import { KEPT_OBJECTS, KEPT_SETTINGS, PARTS, RELEASES, type Kept } from "../../scripts/keep-release/kept.ts";
import { bundleWorker } from "../../scripts/serve/bundle.ts";
import { DEPLOYMENT_FILE, startServer, type TestServer } from "./servers.ts";

export const VERSIONS = readdirSync(RELEASES).filter((name) => /^\d+\.\d+\.\d+$/.test(name));

const scratch = mkdtempSync(path.join(tmpdir(), "parley-releases-"));
// Not after the tests of a file: others of the same process use it, too.
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
const running: TestServer[] = [];

/** Each file with tests of releases calls it at its end. */
export async function stopReleases(): Promise<void> {
  await Promise.all(running.splice(0).map((server) => server.stop()));
}

const partOf = (version: string, part: keyof typeof PARTS): string => path.join(RELEASES, version, PARTS[part]);

export const keptOf = (version: string): Kept => JSON.parse(readFileSync(partOf(version, "facts"), "utf8")) as Kept;

/** A copy of the data, for a server to go on with. */
export function stateOf(version: string): string {
  const directory = mkdtempSync(path.join(scratch, "state-"));
  cpSync(partOf(version, "state"), directory, { recursive: true });
  const meetings = path.join(directory, "do", "parley-MeetingObject");
  for (const name of readdirSync(meetings)) refresh(path.join(meetings, name), Date.now() - keptOf(version).keptAtMs);
  return directory;
}

/** Moves the times of what an application broadcast: no client can recover events that are older than a window. */
function refresh(file: string, byMs: number): void {
  const database = new DatabaseSync(file);
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE name LIKE 'broadcasts%'").all();
  for (const { name } of tables) database.exec(`UPDATE ${String(name)} SET at_ms = at_ms + ${byMs}`);
  database.close();
}

/** The Worker of a release; `today` is that of this code. */
export type Build = "today" | (string & {});

const scripts = new Map<Build, Promise<string>>();

function scriptOf(build: Build): Promise<string> {
  const script =
    scripts.get(build) ??
    (build === "today"
      ? bundleWorker(path.join(RELEASES, "worker.ts"))
      : Promise.resolve(brotliDecompressSync(readFileSync(partOf(build, "server"))).toString()));
  scripts.set(build, script);
  return script;
}

export interface ClientModule {
  connectRoom(url: string, room: string, options: ConnectOptions): Room;
}

export async function clientOf(version: string): Promise<ClientModule> {
  const file = path.join(scratch, `client-${version}.mjs`);
  writeFileSync(file, brotliDecompressSync(readFileSync(partOf(version, "client"))));
  return (await import(pathToFileURL(file).href)) as ClientModule;
}

/**
 * Serves a build, with the settings of kept releases.
 * @param objects the build of the objects, if it is another one than that of the Worker in front of them
 */
export async function serve(
  build: Build,
  {
    stateDir,
    objects = build,
    settings,
  }: { stateDir?: string; objects?: Build; settings?: Record<string, string> } = {},
): Promise<TestServer> {
  const { assets: _, ...options } = JSON.parse(readFileSync(process.env[DEPLOYMENT_FILE]!, "utf8")) as V4WorkerOptions;
  const durableObjects = { ...options.durableObjects, ...KEPT_OBJECTS };
  const front = { ...options, durableObjects, script: await scriptOf(build) } as V4WorkerOptions;
  const deployment = objects === build ? front : split(front, await scriptOf(objects));
  const file = path.join(mkdtempSync(path.join(scratch, "deployment-")), "deployment.json");
  writeFileSync(file, JSON.stringify({ ...deployment, entrypoint: "default" }));
  const server = await startServer({
    settings: { ...KEPT_SETTINGS, ...settings },
    deploymentFile: file,
    ...(stateDir !== undefined && { stateDir }),
  });
  running.push(server);
  return server;
}

/** The same Worker, with its objects in another one beside it. */
function split(front: V4WorkerOptions, script: string): V4WorkerOptions & { beside: V4WorkerOptions[] } {
  const { queueConsumers: _, ...objects } = front;
  const beside = { ...objects, name: "objects", script } as V4WorkerOptions;
  const durableObjects = Object.fromEntries(
    Object.entries(front.durableObjects ?? {}).map(([binding, object]) => [
      binding,
      { ...(object as object), scriptName: "objects" },
    ]),
  ) as NonNullable<V4WorkerOptions["durableObjects"]>;
  return { ...front, durableObjects, beside: [beside] };
}
