// Runs the two public protocol suites against the echoes of test/protocol-suites. The suites are not kept
// here; take them from https://github.com/socketio/socket.io: docs/engine.io-protocol/v4-test-suite and
// docs/socket.io-protocol/v5-test-suite.
//   node scripts/protocol-suites.ts --engine DIR --socket DIR [--evict]
// `--evict` runs their WebSocket parts with the server put to sleep after each frame that a client sends.
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { createTestHarness, type TestHarness } from "wrangler";

import { PROJECT_ROOT } from "./local-variables.ts";
import { readOptions } from "./options.ts";
import { EvictingProxy } from "./protocol-suites/evicting-proxy.ts";

const USAGE = "Usage: node scripts/protocol-suites.ts --engine DIR --socket DIR [--evict]";

/** Where the suites expect their server; it cannot be set from outside. */
const SUITE_URL = "http://localhost:3000";

/** A polling session ends with its object, so the suite's polling tests cannot run with evictions. */
const NEEDS_POLLING = "HTTP long-polling|upgrade";

/** From a closing frame of the server to the closing that the suites wait for, where TCP stays open. */
const CLOSE_TIMEOUT_MS = 100;

/** A suite that hangs is ended after this. */
const SUITE_TIMEOUT_MS = 120_000;

/** The object's name in test/protocol-suites/worker.ts. */
const SUITE_OBJECT = { name: "suite" };

interface Suite {
  readonly name: "engine" | "socket";
  readonly directory: string;
  /** The Durable Object that it talks to, as test/protocol-suites/worker.ts has it. */
  readonly className: "EngineEcho" | "SocketEcho";
}

interface Count {
  readonly passed: number;
  readonly failed: number;
}

// Nothing is looked up over the network, and nothing but warnings is printed.
Object.assign(process.env, { CLOUDFLARE_CF_FETCH_ENABLED: "false", WRANGLER_LOG: "warn" });
const exitCode = await main();
// Sockets that a suite left open must not keep a finished run from ending.
process.exit(exitCode);

async function main(): Promise<number> {
  const { values } = readOptions(USAGE, {
    options: { engine: { type: "string" }, socket: { type: "string" }, evict: { type: "boolean", default: false } },
  });
  const { engine, socket, evict } = values;
  if (engine === undefined || socket === undefined) {
    console.error(USAGE);
    return 2;
  }
  const scratch = mkdtempSync(path.join(tmpdir(), "parley-suites-"));
  const configPath = path.join(PROJECT_ROOT, "test", "protocol-suites", "wrangler.toml");
  // An eviction waits for timers to run out, as falling asleep does.
  const server = createTestHarness({ workers: [{ configPath, vars: { WAITING: evict ? "asleep" : "as usual" } }] });
  try {
    const { url } = await server.listen();
    const run = (suite: Suite): Promise<Count> => runSuite(suite, scratch, url, evict ? server : undefined);
    const engineCount = await run({ name: "engine", directory: engine, className: "EngineEcho" });
    const socketCount = await run({ name: "socket", directory: socket, className: "SocketEcho" });
    console.log(`engine: ${show(engineCount)}; socket: ${show(socketCount)}`);
    return [engineCount, socketCount].every(({ passed, failed }) => passed > 0 && failed === 0) ? 0 : 1;
  } finally {
    await server.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

function show({ passed, failed }: Count): string {
  return `${passed} passed, ${failed} failed`;
}

/** @param evictable the server, when the suite is to be run with evictions */
async function runSuite(suite: Suite, scratch: string, url: URL, evictable?: TestHarness): Promise<Count> {
  const copy = path.join(scratch, suite.name);
  cpSync(suite.directory, copy, { recursive: true });
  await runProgram("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], copy);
  waitLessForTcp(copy);
  if (!evictable) return runMocha(copy, url, []);
  // The first time takes a few hundred milliseconds, in which a client would be pinged instead of answered.
  await countInstances(evictable, suite.className);
  await putToSleep(evictable, suite.className);
  const proxy = await EvictingProxy.start(url, copy, () => putToSleep(evictable, suite.className));
  try {
    return await runMocha(copy, proxy.url, ["--grep", NEEDS_POLLING, "--invert"]);
  } finally {
    proxy.close();
    console.log(`  ${proxy.evictions} evictions, ${await countInstances(evictable, suite.className)} instances\n`);
  }
}

/** Nothing wakes it afterwards but the next frame, or its alarm. */
async function putToSleep(server: TestHarness, className: Suite["className"]): Promise<void> {
  try {
    await server.getWorker().evictDurableObject(className, { ...SUITE_OBJECT, webSockets: "hibernate" });
  } catch (error) {
    // Then it fell asleep by itself: the frame was the last one of the only connection.
    if (!String(error).includes("not currently running")) throw error;
  }
}

async function countInstances(server: TestHarness, className: Suite["className"]): Promise<number> {
  const storage = await server.getWorker().getDurableObjectStorage(className, SUITE_OBJECT);
  const rows = await storage.exec("SELECT count(*) AS instances FROM instances");
  return Number(rows[0]?.["instances"]);
}

/**
 * A workerd of this generation does not end the TCP connection of a hibernatable WebSocket that it closes
 * before it has received anything over it. `ws` waits 30 s for that before it tells of the closing.
 */
function waitLessForTcp(directory: string): void {
  const file = path.join(directory, "node-imports.js");
  const [before, after] = [
    "globalThis.WebSocket = WebSocket;",
    `globalThis.WebSocket = class extends WebSocket {
  constructor(url) {
    super(url, { closeTimeout: ${CLOSE_TIMEOUT_MS} });
  }
};`,
  ];
  const source = readFileSync(file, "utf8");
  if (!source.includes(before)) throw new Error(`${file} is not what it was: ${before} is missing`);
  writeFileSync(file, source.replace(before, after));
}

async function runMocha(directory: string, url: URL, flags: readonly string[]): Promise<Count> {
  const file = path.join(directory, "test-suite.js");
  const source = readFileSync(file, "utf8");
  if (!source.includes(SUITE_URL)) throw new Error(`${file} does not mention ${SUITE_URL}: is it the right suite?`);
  writeFileSync(file, source.replaceAll(SUITE_URL, url.origin));
  const mocha = path.join("node_modules", ".bin", "mocha");
  const output = await runProgram(process.execPath, [mocha, "--exit", ...flags, "test-suite.js"], directory);
  const count = (what: string): number => Number(new RegExp(`^ +(\\d+) ${what}`, "m").exec(output)?.[1] ?? 0);
  return { passed: count("passing"), failed: count("failing") };
}

/** Runs a program until it exits, with any code. @returns its output, which is printed as well */
function runProgram(program: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "inherit"], timeout: SUITE_TIMEOUT_MS });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      process.stdout.write(text);
    });
    child.once("error", reject);
    child.once("close", () => resolve(output));
  });
}
