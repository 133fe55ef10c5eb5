// A folder with the installed package, and nothing else of this repository but the samples of the documents: made once in a run of
// the tests. Called by tests of the package and of the samples.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { CONFIGURATIONS, keepOptions, serveBundle } from "./bundle-server.ts";
import { linkPackages } from "./installation.ts";
import { once } from "./once.ts";
import { execute } from "./packages.ts";
import { PROJECT_ROOT, type TestServer } from "./servers.ts";
import { packPackages } from "./tarballs.ts";

/** The example that is a project of its own, with a tsconfig.json for where it is copied to. */
const WHOLE_PROJECT = path.join("docs", "examples", "typing-race");

/** In the folder of a bundle: what Wrangler said. */
const PRINTED = "printed.txt";

export interface Consumer {
  readonly folder: string;
  /** The package's own file. */
  readonly tarball: string;
  /** Runs a program of the installed packages in the folder, or in one of the projects there. @returns its output; rejects with it if it fails */
  run(project: string, program: string, ...args: string[]): Promise<string>;
  /** What `wrangler deploy --dry-run` prints for a project. */
  deployed(project: string): Promise<string>;
  /** Runs the Worker of a project in workerd, as `wrangler deploy` has built it. */
  serve(project: string, variables: Readonly<Record<string, string>>): Promise<TestServer>;
}

/** The projects are those of docs/examples, by their names there, and those of the folder consumer here. */
export async function consumer(): Promise<Consumer> {
  const { parley: tarball } = await packPackages();
  const folder = await copyProjects();
  await once("consumer", () => install(folder));
  const programOf = (name: string): string => path.join(folder, "node_modules", ".bin", name);
  const bundleOf = (project: string): Promise<string> =>
    once(`${project}.bundle`, async (made) => {
      const build = [programOf("wrangler"), "deploy", "--dry-run", "--outdir", made] as const;
      const options = { cwd: path.join(folder, project), env: { WRANGLER_SEND_METRICS: "false" } };
      writeFileSync(path.join(made, PRINTED), await execute(build, options));
    });
  return {
    folder,
    tarball,
    run: (project, program, ...args) => execute([programOf(program), ...args], { cwd: path.join(folder, project) }),
    deployed: async (project) => readFileSync(path.join(await bundleOf(project), PRINTED), "utf8"),
    serve: async (project, variables) => serveBundle(path.join(folder, project), await bundleOf(project), variables),
  };
}

/** Makes the folder without its packages, with the options of the Workers in it and of engine-worker.ts: so one process loads Wrangler for all. */
export const copyProjects = (): Promise<string> =>
  once("projects", async (folder) => {
    cpSync(path.join(import.meta.dirname, "consumer"), folder, { recursive: true });
    cpSync(path.join(PROJECT_ROOT, "docs", "examples"), folder, {
      recursive: true,
      filter: (file) => path.basename(file) !== "tsconfig.json" || file.includes(WHOLE_PROJECT),
    });
    const projects = readdirSync(folder).map((name) => path.join(folder, name));
    for (const project of projects.filter(isWorker)) await keepOptions(project);
    await keepOptions(path.join(import.meta.dirname, "engine"), path.join(folder, "engine"));
  });

const isWorker = (project: string): boolean => CONFIGURATIONS.some((name) => existsSync(path.join(project, name)));

async function install(folder: string): Promise<void> {
  await linkPackages(folder);
  await linkPackages(path.join(folder, path.basename(WHOLE_PROJECT)));
}
