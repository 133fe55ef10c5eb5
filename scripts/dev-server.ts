// The local server behind `npm start`: `wrangler dev` with this machine's settings, quiet until it is ready.
// `--state DIR` keeps rooms elsewhere than in .wrangler/state; the tests use it.
import { spawn, type ChildProcess } from "node:child_process";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { withCompression } from "../src/settings/compression-flags.ts";
import { overridesFromEnvironment } from "./environment-settings.ts";
import { PROJECT_ROOT, readLocalSettings, readLocalVariables } from "./local-variables.ts";
import { assertPortFree, readPort } from "./port.ts";
import { onStop } from "./stopping.ts";
import { helpOf } from "./help.ts";
import { readOptions } from "./options.ts";

const HOST = "127.0.0.1";
const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 100;
/** The time for `wrangler dev` to end by itself before it is killed. */
const STOP_TIMEOUT_MS = 5000;

const { values: options } = readOptions(helpOf("start"), {
  options: { state: { type: "string", default: path.join(".wrangler", "state") } },
});

try {
  await serve();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

async function serve(): Promise<void> {
  const port = readPort(process.env["PORT"]);
  const { compression } = readLocalSettings();
  await assertPortFree(port, HOST, "npm start");
  const wrangler = startWrangler(port, compression);
  stopWith(wrangler);
  await untilReady(port, wrangler);
  console.log(`Ready on http://${HOST}:${port}`);
}

function startWrangler(port: number, isCompressed: boolean): ChildProcess {
  const wrangler = path.join(PROJECT_ROOT, "node_modules", "wrangler", "bin", "wrangler.js");
  const overrides = Object.entries(overridesFromEnvironment()).flatMap(([name, value]) => [
    "--var",
    `${name}:${value}`,
  ]);
  const flags = ["--env", "development", "--ip", HOST, "--port", String(port), "--persist-to", options.state];
  // They take the place of those in wrangler.toml, which are one.
  const compatibility = withCompression([], isCompressed).flatMap((flag) => ["--compatibility-flags", flag]);
  return spawn(
    process.execPath,
    [
      wrangler,
      "dev",
      ...flags,
      ...compatibility,
      "--inspector-port",
      "0",
      "--show-interactive-dev-session=false",
      ...overrides,
    ],
    {
      cwd: PROJECT_ROOT,
      stdio: ["ignore", "inherit", "inherit"],
      // Nothing is looked up or reported over the network.
      env: {
        ...process.env,
        CLOUDFLARE_CF_FETCH_ENABLED: "false",
        WRANGLER_SEND_METRICS: "false",
        WRANGLER_HIDE_BANNER: "true",
        WRANGLER_LOG: wranglerLogLevel(),
      },
    },
  );
}

/** wrangler prints the Worker's info logs only together with its own: so only if LOG_LEVEL asks for them. */
function wranglerLogLevel(): string {
  const asked = readLocalVariables()["LOG_LEVEL"];
  return asked === "debug" || asked === "info" ? "info" : "warn";
}

/** Ends when its first child process ends, and ends the others. */
function stopWith(wrangler: ChildProcess): void {
  const stop = (): void => {
    wrangler.kill("SIGTERM");
    setTimeout(() => wrangler.kill("SIGKILL"), STOP_TIMEOUT_MS).unref();
  };
  onStop(stop);
  wrangler.once("exit", (code) => process.exit(code ?? 0));
}

async function untilReady(port: number, wrangler: ChildProcess): Promise<void> {
  const deadlineMs = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadlineMs && wrangler.exitCode === null) {
    const isReady = await fetch(`http://${HOST}:${port}/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    await sleep(POLL_MS);
  }
  wrangler.kill("SIGKILL");
  throw new Error(`The server was not ready within ${READY_TIMEOUT_MS / 1000} s.`);
}
