// Runs the npm commands: `node scripts/run.mjs NAME [ARGUMENTS]`, as package.json calls it. Shows help, installs missing packages,
// runs the script with the pinned Node, and ends together with it. Plain JavaScript for the Node that a machine has.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

import { install, nodeBin, pinnedNode, projectRoot } from "./install.mjs";

const SCRIPTS = {
  start: "dev-server.ts",
  test: "run-tests.ts",
  check: "check.ts",
  build: "build-client.ts",
  prepack: "build-package.ts",
  packages: "build-packages.ts",
  serve: "self-host.ts",
  bench: "measure/bench.ts",
  crash: "measure/crash.ts",
  fuzz: "fuzz.ts",
  simulate: "simulate.ts",
  token: "token.ts",
  load: "measure/load.ts",
  cost: "measure/cost.ts",
  screenshots: "screenshots.ts",
  race: "race.ts",
  deploy: "deploy.ts",
};

/** How often it is looked whether npm is still there. */
const PARENT_POLL_MS = 250;
const EXIT_INTERRUPTED = 130;

const [name, ...args] = process.argv.slice(2);
if (!Object.hasOwn(SCRIPTS, name ?? "")) {
  console.error(`There is no command "${name}"; there are ${Object.keys(SCRIPTS).join(", ")}.`);
  process.exit(2);
}
if (args.includes("--help") || args.includes("-h")) {
  process.stdout.write(readFileSync(path.join(projectRoot, "scripts", "help", `${name}.txt`), "utf8"));
} else {
  await run(path.join(projectRoot, "scripts", SCRIPTS[name]));
}

/** @param {string} script */
async function run(script) {
  /** @type {import("node:child_process").ChildProcess | undefined} */
  let running;
  let isStopped = false;
  /** @param {NodeJS.Signals} signal */
  const stop = (signal) => {
    isStopped = true;
    running?.kill(signal);
  };
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) process.on(signal, () => stop(signal));
  if (process.env.npm_lifecycle_event !== undefined) stopWithNpm(() => stop("SIGTERM"));
  const code = await install((npm) => (running = npm));
  // npm has then removed the packages that it installed.
  // A signal to the whole group can end npm before this process gets it.
  if (isStopped || code === undefined) process.exit(EXIT_INTERRUPTED);
  if (code !== 0) {
    console.error("npm ci failed; the packages could not be installed.");
    process.exit(code);
  }
  running = start(script);
}

/**
 * @param {string} script
 * @returns {import("node:child_process").ChildProcess}
 */
function start(script) {
  const child = spawn(pinnedNode, [script, ...args], {
    cwd: projectRoot,
    // The channel tells the child when this process is gone, however it ended (stopping.ts).
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, PATH: `${nodeBin}${path.delimiter}${process.env.PATH ?? ""}` },
  });
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? EXIT_INTERRUPTED : 1)));
  return child;
}

/**
 * npm hands a SIGTERM to its shell, which ends without a word to this process.
 * @param {() => void} stop
 */
function stopWithNpm(stop) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, PARENT_POLL_MS);
  timer.unref();
}
