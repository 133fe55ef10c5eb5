// A folder with the installed package, and nothing else of this repository but the samples of the documents: made once in a run of
// the tests. Called by tests of the package and of the samples.
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import type { V4WorkerOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";

import { once } from "./once.ts";
import { execute } from "./packages.ts";
import { PROJECT_ROOT, startServer, type TestServer } from "./servers.ts";
import { packPackages } from "./tarballs.ts";

const INSTALL = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];

/** The example that is a project of its own, with a tsconfig.json for where it is copied to. */
const WHOLE_PROJECT = path.join("docs", "examples", "typing-race");

export interface Consumer {
  readonly folder: string;
  /** The package's own file. */
  readonly tarball: string;
  /** Runs a program of the installed packages in the folder, or in one of the projects there. @returns its output; rejects with it if it fails */
  run(project: string, program: string, ...args: string[]): Promise<string>;
  /**
   * Builds the Worker of a project as `wrangler deploy` does, and runs it in workerd. Not with `wrangler dev`: on a busy machine its proxy
   * loses the connection to the Worker, and answers 500 to a POST that is on its way.
   */
  serve(project: string, variables: Readonly<Record<string, string>>): Promise<TestServer>;
}

/** The projects are those of docs/examples, by their names there, and those of the folder consumer here. */
export async function consumer(): Promise<Consumer> {
  const { parley: tarball } = await packPackages();
  const folder = await once("consumer", (made) => install(made, tarball));
  const programOf = (name: string): string => path.join(folder, "node_modules", ".bin", name);
  return {
    folder,
    tarball,
    run: (project, program, ...args) => execute([programOf(program), ...args], { cwd: path.join(folder, project) }),
    serve: async (project, variables) => {
      const root = path.join(folder, project);
      const bundle = await once(`${project}.bundle`, async (made) => {
        const build = [programOf("wrangler"), "deploy", "--dry-run", "--outdir", made] as const;
        await execute(build, { cwd: root, env: { WRANGLER_SEND_METRICS: "false" } });
      });
      const deploymentFile = path.join(bundle, "deployment.json");
      writeFileSync(deploymentFile, JSON.stringify(deploymentOf(root, bundle, variables)));
      return startServer({ deploymentFile });
    },
  };
}

function deploymentOf(root: string, bundle: string, variables: Readonly<Record<string, string>>): object {
  const configFile = ["wrangler.toml", "wrangler.jsonc"].map((name) => path.join(root, name)).find(existsSync)!;
  const { modulesRules: _, ...options } = unstable_getMiniflareWorkerOptions(configFile)
    .workerOptions as V4WorkerOptions & { modulesRules?: unknown };
  return {
    ...options,
    name: path.basename(root),
    modules: true,
    script: readFileSync(path.join(bundle, "index.js"), "utf8"),
    entrypoint: "default",
    bindings: { ...options.bindings, ...variables },
  };
}

async function install(folder: string, tarball: string): Promise<void> {
  cpSync(path.join(import.meta.dirname, "consumer"), folder, { recursive: true });
  cpSync(path.join(PROJECT_ROOT, "docs", "examples"), folder, {
    recursive: true,
    filter: (file) => path.basename(file) !== "tsconfig.json" || file.includes(WHOLE_PROJECT),
  });
  const manifest = path.join(folder, "package.json");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace('"the tarball"', JSON.stringify(`file:${tarball}`)));
  await execute(["npm", ...INSTALL], { cwd: folder });
}
