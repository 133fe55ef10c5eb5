// The versions of the packages that have to fit each other, as they are installed. Called by facts.ts.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

export interface Versions {
  /** Of parley-rooms; `undefined` where it is not installed. */
  readonly parley?: string;
  /** The versions of the runtime, with the packages that bring each. */
  readonly workerds: ReadonlyMap<string, readonly string[]>;
  /** The Node that runs this, and the one that Wrangler needs. */
  readonly node: { readonly running: string; readonly needed?: string };
  /** The version of Wrangler that the test plugin was released with. */
  readonly wranglerOfTests?: string;
}

interface Manifest {
  readonly name?: string;
  readonly version: string;
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
}

const PACKAGE = "parley-rooms";
const TEST_PLUGIN = "@cloudflare/vitest-plugin";

/** Packages that start workerd, by the packages that bring them. */
const RUNTIME_CHAINS = [
  ["wrangler", "workerd"],
  ["wrangler", "miniflare", "workerd"],
  [TEST_PLUGIN, "miniflare", "workerd"],
  [TEST_PLUGIN, "wrangler", "workerd"],
  ["@cloudflare/vite-plugin", "miniflare", "workerd"],
  ["miniflare", "workerd"],
];

export function readVersions(folder: string): Versions {
  const root = path.join(folder, "package.json");
  // The repository of the package is a project of its own, too.
  const own = existsSync(root) ? (JSON.parse(readFileSync(root, "utf8")) as Manifest) : undefined;
  const parley = manifestOf(root, PACKAGE)?.manifest ?? (own?.name === PACKAGE ? own : undefined);
  const workerds = new Map<string, string[]>();
  for (const chain of RUNTIME_CHAINS) {
    const version = versionAlong(root, chain);
    const [brought] = chain as [string, ...string[]];
    if (version !== undefined) workerds.set(version, [...new Set([...(workerds.get(version) ?? []), brought])]);
  }
  const wranglerOfTests = manifestOf(root, TEST_PLUGIN)?.manifest.dependencies?.["wrangler"];
  const needed = manifestOf(root, "wrangler")?.manifest.engines?.node;
  return {
    node: { running: process.versions.node, ...(needed !== undefined && { needed }) },
    ...(wranglerOfTests !== undefined && { wranglerOfTests }),
    ...(parley && { parley: parley.version }),
    workerds,
  };
}

/** The version of the last package, each found from the one before it. */
function versionAlong(from: string, chain: readonly string[]): string | undefined {
  let at = { file: from, manifest: undefined as Manifest | undefined };
  for (const name of chain) {
    const next = manifestOf(at.file, name);
    if (!next) return undefined;
    at = next;
  }
  return at.manifest?.version;
}

/** The manifest of a package, looked for as Node does: packages need not export it. */
function manifestOf(from: string, name: string): { file: string; manifest: Manifest } | undefined {
  for (const folder of createRequire(from).resolve.paths(name) ?? []) {
    const file = path.join(folder, name, "package.json");
    // Where packages are links (pnpm), their dependencies stand beside the place that they lead to.
    if (existsSync(file))
      return { file: realpathSync(file), manifest: JSON.parse(readFileSync(file, "utf8")) as Manifest };
  }
  return undefined;
}
