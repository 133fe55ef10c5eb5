// Runs `wrangler dev` for a person: quiet until it is ready, and ended with the command. Called by dev-server.ts and scripts/race.ts.
import { spawn, type ChildProcess } from "node:child_process";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { PROJECT_ROOT } from "../local-variables.ts";
import { onStop } from "../stopping.ts";

export const DEV_HOST = "127.0.0.1";
const POLL_MS = 100;
/** The time for `wrangler dev` to end by itself before it is killed. */
const STOP_TIMEOUT_MS = 5000;

interface DevOptions {
  readonly port: number;
  /** Answered with 200 by a server that is ready. */
  readonly readyPath: string;
  /** Where objects are kept. */
  readonly stateDir: string;
  readonly logLevel: WranglerLogLevel;
  readonly args: readonly string[];
}

type WranglerLogLevel = "info" | "warn";

/**
 * wrangler prints the Worker's info logs only together with its own: so only if LOG_LEVEL asks for them.
 * @param asked what LOG_LEVEL is
 */
export const wranglerLogLevelFor = (asked: string | undefined): WranglerLogLevel =>
  asked === "debug" || asked === "info" ? "info" : "warn";

/** Returns when it is ready. */
export async function runWranglerDev({ port, readyPath, stateDir, logLevel, args }: DevOptions): Promise<void> {
  const wrangler = path.join(PROJECT_ROOT, "node_modules", "wrangler", "bin", "wrangler.js");
  const flags = ["--ip", DEV_HOST, "--port", String(port), "--persist-to", stateDir, "--inspector-port", "0"];
  const child = spawn(process.execPath, [wrangler, "dev", "--show-interactive-dev-session=false", ...flags, ...args], {
    cwd: PROJECT_ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    // Nothing is looked up or reported over the network.
    env: {
      ...process.env,
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_HIDE_BANNER: "true",
      WRANGLER_LOG: logLevel,
    },
  });
  stopWith(child);
  await untilReady(`http://${DEV_HOST}:${port}${readyPath}`, child);
  console.log(`Ready on http://${DEV_HOST}:${port}`);
}

/** This process ends with wrangler, and ends it when it is asked to stop. */
function stopWith(wrangler: ChildProcess): void {
  const stop = (): void => {
    wrangler.kill("SIGTERM");
    setTimeout(() => wrangler.kill("SIGKILL"), STOP_TIMEOUT_MS).unref();
  };
  onStop(stop);
  wrangler.once("exit", (code) => process.exit(code ?? 0));
}

/** However long that takes on this machine: if it cannot start, wrangler ends by itself. */
async function untilReady(url: string, wrangler: ChildProcess): Promise<void> {
  while (wrangler.exitCode === null) {
    const isReady = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    await sleep(POLL_MS);
  }
}
