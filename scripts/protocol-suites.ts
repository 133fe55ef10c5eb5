// Runs the two public protocol suites against the echoes of test/protocol-suites. The suites are not kept
// here; take them from https://github.com/socketio/socket.io: docs/engine.io-protocol/v4-test-suite and
// docs/socket.io-protocol/v5-test-suite.
//   node scripts/protocol-suites.ts --engine DIR --socket DIR
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { createTestHarness } from "wrangler";

import { PROJECT_ROOT } from "./local-variables.ts";
import { readOptions } from "./options.ts";

const USAGE = "Usage: node scripts/protocol-suites.ts --engine DIR --socket DIR";

/** Where the suites expect their server; it cannot be set from outside. */
const SUITE_URL = "http://localhost:3000";

/** From a closing frame of the server to the closing that the suites wait for, where TCP stays open. */
const CLOSE_TIMEOUT_MS = 100;

/** A suite that hangs is ended after this. */
const SUITE_TIMEOUT_MS = 120_000;

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
  const { values } = readOptions(USAGE, { options: { engine: { type: "string" }, socket: { type: "string" } } });
  const { engine, socket } = values;
  if (engine === undefined || socket === undefined) {
    console.error(USAGE);
    return 2;
  }
  const scratch = mkdtempSync(path.join(tmpdir(), "parley-suites-"));
  const configPath = path.join(PROJECT_ROOT, "test", "protocol-suites", "wrangler.toml");
  const server = createTestHarness({ workers: [{ configPath }] });
  try {
    const { url } = await server.listen();
    const engineCount = await runSuite(engine, path.join(scratch, "engine"), url);
    const socketCount = await runSuite(socket, path.join(scratch, "socket"), url);
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

async function runSuite(directory: string, copy: string, url: URL): Promise<Count> {
  cpSync(directory, copy, { recursive: true });
  await runProgram("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], copy);
  waitLessForTcp(copy);
  return runMocha(copy, url);
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

async function runMocha(directory: string, url: URL): Promise<Count> {
  const file = path.join(directory, "test-suite.js");
  const source = readFileSync(file, "utf8");
  if (!source.includes(SUITE_URL)) throw new Error(`${file} does not mention ${SUITE_URL}: is it the right suite?`);
  writeFileSync(file, source.replaceAll(SUITE_URL, url.origin));
  const mocha = path.join("node_modules", ".bin", "mocha");
  const output = await runProgram(process.execPath, [mocha, "--exit", "test-suite.js"], directory);
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
