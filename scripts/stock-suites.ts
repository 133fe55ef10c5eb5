// Runs the tests of socket.io and engine.io, unchanged, with the package socket.io over our engine and our recovery in Node (test/stock/host). The
// tests are not kept here; take a checkout or an archive of https://github.com/socketio/socket.io at the tag of the release.
//   node scripts/stock-suites.ts --checkout DIR [--peer]
// `--peer` runs them with the package engine.io instead, for comparison. Prints the tests that fail, and a line for each file.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { PROJECT_ROOT } from "./local-variables.ts";
import { readOptions } from "./options.ts";

const USAGE = "Usage: node scripts/stock-suites.ts --checkout DIR [--peer]";

/** The release of socket.io, and what its tests need. */
const VERSION = "4.8.4";
const PACKAGES = [
  `socket.io@${VERSION}`,
  `socket.io-client@${VERSION}`,
  "socket.io-client-v2@npm:socket.io-client@2.5.0",
  "engine.io-client-v3@npm:engine.io-client@3.5.4",
  "mocha@10.8.2",
  "tsx@4.20.6",
  "expect.js@0.3.1",
  "supertest@7.1.4",
  "superagent@9.0.2",
  "has-cors@1.1.0",
  "express@4.21.2",
  "express-session@1.18.2",
  "helmet@7.2.0",
  "cookie@0.7.2",
  "cors@2.8.5",
  "ws@8.18.3",
];

/** Not among them: `uws`, another HTTP server. */
const SOCKET_FILES = [
  "server-attachment",
  "handshake",
  "close",
  "namespaces",
  "socket",
  "messaging-many",
  "middleware",
  "socket-middleware",
  "v2-compatibility",
  "socket-timeout",
  "utility-methods",
  "connection-state-recovery",
];
const ENGINE_FILES = ["server", "middlewares"];

const TEST_MS_MAX = "3000";

interface Stats {
  readonly passes: number;
  readonly failures: number;
  readonly pending: number;
}

process.exitCode = main();

function main(): number {
  const { values } = readOptions(USAGE, {
    options: { checkout: { type: "string" }, peer: { type: "boolean", default: false } },
  });
  const { checkout, peer } = values;
  if (checkout === undefined) {
    console.error(USAGE);
    return 2;
  }
  const scratch = mkdtempSync(path.join(tmpdir(), "parley-stock-"));
  try {
    prepare(scratch, path.resolve(checkout));
    const run = (folder: string, file: string): Stats => runFile(path.join(scratch, folder), file, peer);
    const socket = SOCKET_FILES.map((file) => show(file, run("socket", `test/${file}.ts`)));
    const engine = ENGINE_FILES.map((file) => show(`engine.io ${file}`, run("engine", `test/${file}.js`)));
    const passes = sum(socket.map((stats) => stats.passes));
    console.log(`socket.io: ${passes} of ${passes + sum(socket.map(({ failures }) => failures))}`);
    return [...socket, ...engine].every(({ failures }) => failures === 0) ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function show(file: string, stats: Stats): Stats {
  console.log(
    `${file}: ${stats.passes} of ${stats.passes + stats.failures}${stats.pending ? `, ${stats.pending} left out` : ""}`,
  );
  return stats;
}

/** Two packages beside their dependencies, each an index before its tests. */
function prepare(scratch: string, checkout: string): void {
  writeFileSync(path.join(scratch, "package.json"), '{"private":true}');
  const install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", ...PACKAGES];
  const { status } = spawnSync("npm", install, { cwd: scratch, stdio: "inherit" });
  if (status !== 0) throw new Error("npm could not install what the tests need");
  for (const [folder, name] of [
    ["socket", "socket.io"],
    ["engine", "engine.io"],
  ] as const) {
    const own = path.join(scratch, folder);
    mkdirSync(own);
    cpSync(path.join(checkout, "packages", name, "test"), path.join(own, "test"), { recursive: true });
    writeFileSync(path.join(own, "index.js"), `module.exports = require("${name}");\n`);
    writeFileSync(
      path.join(own, "package.json"),
      JSON.stringify({ name: "suite", version: VERSION, main: "./index.js" }),
    );
  }
  // Named by the tests: files that clients may ask for, types, and a parser of earlier clients.
  cpSync(path.join(scratch, "node_modules", "socket.io", "client-dist"), path.join(scratch, "socket", "client-dist"), {
    recursive: true,
  });
  mkdirSync(path.join(scratch, "socket", "lib"));
  writeFileSync(path.join(scratch, "socket", "lib", "typed-events.ts"), "export {};\n");
  const build = path.join("build", "parser-v3");
  cpSync(path.join(scratch, "node_modules", "engine.io", build), path.join(scratch, "engine", build), {
    recursive: true,
  });
  const host = (file: string): string => JSON.stringify(path.join(PROJECT_ROOT, "test", "stock", "host", file));
  writeFileSync(
    path.join(scratch, "exchange.cjs"),
    `const Module = require("node:module");
const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, parent, ...rest) {
  if (request === "engine.io") return ${host("engine-on-node.ts")};
  const isServer = /node_modules.socket\\.io.dist/.test(parent?.filename ?? "");
  if (request === "socket.io-adapter" && isServer) return ${host("adapter-on-node.ts")};
  return resolve.call(this, request, parent, ...rest);
};
`,
  );
}

function runFile(folder: string, file: string, isPeer: boolean): Stats {
  const mocha = path.join("..", "node_modules", ".bin", "mocha");
  const report = path.join(folder, "report.json");
  const exchange = isPeer ? [] : ["--require", "../exchange.cjs"];
  const args = [
    "--import=tsx",
    ...exchange,
    "--exit",
    "--timeout",
    TEST_MS_MAX,
    "--reporter",
    "json",
    "--reporter-option",
    `output=${report}`,
    file,
  ];
  spawnSync(mocha, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  const { stats, failures } = JSON.parse(readFileSync(report, "utf8")) as {
    stats: Stats;
    failures: ReadonlyArray<{ fullTitle: string; err: { message?: string } }>;
  };
  for (const { fullTitle, err } of failures) console.log(`  ${fullTitle}: ${err.message?.split("\n")[0]}`);
  return stats;
}
