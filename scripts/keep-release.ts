// Keeps the parts of a release that later ones have to read and talk to, in test/releases/VERSION: the data of a
// deployment, the attachments of sleeping connections, and the bundles of server and client. Run once for each minor
// and major, for some two minutes:
//   node scripts/keep-release.ts
// Before the release it may run again, and replaces the kept files: a format may change as long as no deployment has its data. Afterwards the folder
// stays as it is for ever, because it stands for the data of others.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { brotliCompressSync } from "node:zlib";

import type { V4WorkerOptions } from "miniflare";

import { VERSION } from "../src/worker/version.ts";
import { KEPT_OBJECTS, KEPT_SETTINGS, PARTS, RELEASES, type Kept } from "./keep-release/kept.ts";
import { askAgain, GATHERING, hurry, live, stay } from "./keep-release/story.ts";
import { PROJECT_ROOT } from "./local-variables.ts";
import { freePort } from "./port.ts";
import { bundleWorker } from "./serve/bundle.ts";
import { startRuntime } from "./serve/runtime.ts";
import { readDeployment } from "./serve/self-hosted.ts";

const HOST = "127.0.0.1";

/** The tables of all objects, numbers apart: the story has to store something in each. */
const STORED = (
  "log_names segments batches changes reserved_seq search_parts search recovery_logs broadcasts broadcasts_of " +
  "announcements pending dead_letters room_pages"
).split(" ");

const folder = path.join(RELEASES, VERSION);
const stateDir = mkdtempSync(path.join(tmpdir(), "parley-kept-"));
try {
  await keep();
} finally {
  rmSync(stateDir, { recursive: true, force: true });
}

async function keep(): Promise<void> {
  // Builds the client, too.
  const { durableObjects, ...deployment } = await readDeployment("development");
  const script = await bundleWorker(path.join(RELEASES, "worker.ts"));
  const { kept, attachments } = await play({
    ...deployment,
    script,
    durableObjects: { ...durableObjects, ...KEPT_OBJECTS },
  });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  keepState(stateDir, path.join(folder, PARTS.state));
  writeJson(PARTS.facts, kept);
  writeJson(PARTS.attachments, attachments);
  writeFileSync(path.join(folder, PARTS.server), brotliCompressSync(script));
  const client = readFileSync(path.join(PROJECT_ROOT, "dist", "client", "client.js"));
  writeFileSync(path.join(folder, PARTS.client), brotliCompressSync(client));
  console.log(`Kept release ${VERSION} in ${path.relative(PROJECT_ROOT, folder)}`);
}

function writeJson(name: string, value: unknown): void {
  writeFileSync(path.join(folder, name), `${JSON.stringify(value, undefined, 2)}\n`);
}

/** Serves the story, and ends the server while people are connected. */
async function play(worker: V4WorkerOptions): Promise<{ kept: Kept; attachments: unknown }> {
  const hurried = await serve(worker, { DURABILITY: "relaxed" }, hurry);
  let hangUp: (() => void) | undefined;
  const played = await serve(worker, {}, async (url) => {
    const questions = [...hurried, ...(await live(url))];
    const answers = [];
    for (const question of questions) answers.push({ ...question, answer: await askAgain(url, question) });
    const staying = await stay(url);
    ({ hangUp } = staying);
    const { left, pins } = staying;
    const attachments = await (await fetch(`${url}/attachments/${GATHERING}`)).json();
    return { kept: { version: VERSION, keptAtMs: Date.now(), answers, left, pins }, attachments };
  });
  hangUp?.();
  return played;
}

async function serve<Result>(
  worker: V4WorkerOptions,
  settings: Readonly<Record<string, string>>,
  use: (url: string) => Promise<Result>,
): Promise<Result> {
  const port = await freePort(HOST);
  const bindings = { ...worker.bindings, ...KEPT_SETTINGS, ...settings };
  const address = { address: { host: HOST, port }, entrypoint: "default", stateDir };
  const runtime = await startRuntime({ ...worker, bindings }, address);
  try {
    return await use(`http://${HOST}:${port}`);
  } finally {
    await runtime.stop();
  }
}

/** Copies the objects and the files, each database as one without a log beside it. */
function keepState(from: string, to: string): void {
  const tables = new Set<string>();
  for (const name of readdirSync(from, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".sqlite")) continue;
    const database = new DatabaseSync(path.join(from, name));
    for (const { name: table } of database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all())
      tables.add(String(table).replace(/_\d.*$/, ""));
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
  }
  const missing = STORED.filter((table) => !tables.has(table));
  if (missing.length > 0) throw new Error(`the story stores nothing in ${missing.join(", ")}`);
  for (const part of ["do", "r2"])
    cpSync(path.join(from, part), path.join(to, part), {
      recursive: true,
      filter: (name) => !/-(wal|shm)$/.test(name),
    });
}
