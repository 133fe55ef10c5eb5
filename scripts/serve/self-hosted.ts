// Serves the production bundle in workerd, with settings from the environment or .dev.vars. Called by self-host.ts; keep-release.ts
// and tests build their deployments with it.
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import type { V4WorkerOptions } from "miniflare";

import { withCompression } from "../../src/settings/compression-flags.ts";
import { digestOfPage, PAGE_SOURCES } from "../built-page.ts";
import { digestOf, keepText, keptText } from "../kept-text.ts";
import { PROJECT_ROOT, readLocalSettings, readLocalVariables, warnOfMisspeltSettings } from "../local-variables.ts";
import { assertPortFree, readPort } from "../port.ts";
import { onStop } from "../stopping.ts";
import { collectGarbageLessOften, startRuntime } from "./runtime.ts";
import { takeStateDirectory } from "./state-directory.ts";

const HOST_DEFAULT = "127.0.0.1";
const ENVIRONMENT = "production";
/** Queues live in this process's memory here, and relayed messages must survive a restart: so rooms call each other directly. */
const RELAY_DEFAULT = { RELAY: "direct" };
const KEPT = "deployment.json";
/** All that the Worker and its page are made of. */
const SOURCES = {
  folders: ["durable", "scripts/serve", ...PAGE_SOURCES.folders],
  files: ["wrangler.toml", ...PAGE_SOURCES.files],
};
/**
 * What workerd takes for public besides: this host and networks of tests (RFC 6890), addresses of IPv4 in those of IPv6, which a gateway may
 * translate to inner ones (NAT64, 6to4), and site-local ones.
 */
const NOT_PUBLIC = ["0.0.0.0/8", "198.18.0.0/15", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "fec0::/10"];
/** The Worker fetches link cards over this network: workerd connects to no name that resolves to an inner address (CARD-2). */
export const PUBLIC_WEB = { network: { allow: ["public"], deny: NOT_PUBLIC, tlsOptions: { trustBrowserCas: true } } };
const BUNDLE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Serves until the process is asked to stop, and says when it is ready.
 * @param state the folder of its rooms
 */
export async function serveAlone(state: string): Promise<void> {
  const address = { host: process.env["HOST"] || HOST_DEFAULT, port: readPort(process.env["PORT"]) };
  const { compression } = readLocalSettings(ENVIRONMENT);
  warnOfMisspeltSettings();
  await assertPortFree(address.port, address.host, "npm run serve");
  const stateDir = path.resolve(PROJECT_ROOT, state);
  takeStateDirectory(stateDir);
  // The Worker knows, and deletes, only what it cached in this run (CARD-5).
  rmSync(path.join(stateDir, "cache"), { recursive: true, force: true });
  const worker = await readDeployment(ENVIRONMENT);
  const bindings = { ...worker.bindings, ...RELAY_DEFAULT, ...readLocalVariables(ENVIRONMENT) };
  const compatibilityFlags = withCompression(worker.compatibilityFlags ?? [], compression);
  collectGarbageLessOften();
  const runtime = await startRuntime(
    { ...worker, bindings, compatibilityFlags, serviceBindings: { PUBLIC_WEB } },
    { address, entrypoint: "direct", stateDir },
  );
  let stopping: Promise<void> | undefined;
  onStop(() => void (stopping ??= runtime.stop().then(() => process.exit(0))));
  console.log(`Ready on http://${address.host}:${address.port}`);
}

/**
 * The Worker, with the bindings of wrangler.toml. Builds it, and the page that it serves, unless both are there from the same sources.
 * @param environment of wrangler.toml; its top level is production
 */
export async function readDeployment(environment: Environment): Promise<V4WorkerOptions> {
  return (await keptBuild())[environment];
}

type Environment = "production" | "development";
type Built = Readonly<Record<Environment, V4WorkerOptions>>;

interface Kept {
  /** The digest of the page's files. */
  readonly page: string;
  readonly built: Built;
}

async function keptBuild(): Promise<Built> {
  // What is built names the folder.
  const digest = `${PROJECT_ROOT} ${digestOf(SOURCES)}`;
  const text = keptText(KEPT, digest);
  const kept = text === undefined ? undefined : (JSON.parse(text) as Kept);
  if (kept && kept.page === digestOfPage()) return kept.built;
  const built = await build();
  const page = digestOfPage();
  if (page !== undefined) keepText(KEPT, digest, JSON.stringify({ page, built } satisfies Kept));
  return built;
}

/** In a process of its own: wrangler and esbuild would stay in this one's memory. */
async function build(): Promise<Built> {
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(import.meta.dirname, "deployment.ts")], {
    maxBuffer: BUNDLE_BYTES_MAX,
    env: {
      ...process.env,
      WRANGLER_LOG: "error",
      WRANGLER_SEND_METRICS: "false",
      CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "false",
    },
  }).catch((error: { stderr?: string; message: string }) => {
    throw new Error(`The bundle could not be built: ${error.stderr || error.message}`, { cause: error });
  });
  return JSON.parse(stdout) as Built;
}
