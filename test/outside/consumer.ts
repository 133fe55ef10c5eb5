// A folder with the installed package, and nothing else of this repository but the samples of the documents: made once in a run of
// the tests. Called by tests of the package and of the samples.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { once } from "./once.ts";
import { execute } from "./packages.ts";
import { freePort, HOST, ProcessGroup, PROJECT_ROOT } from "./servers.ts";
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
  /** Starts `wrangler dev` in a project. @returns its address, and a function that stops it */
  dev(project: string, variables: Readonly<Record<string, string>>): Promise<{ url: string; stop(): Promise<void> }>;
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
    dev: async (project, variables) => {
      const port = await freePort();
      const where = ["--ip", HOST, "--port", String(port), "--inspector-port", "0"];
      const vars = Object.entries(variables).flatMap(([name, value]) => ["--var", `${name}:${value}`]);
      const group = new ProcessGroup({
        program: programOf("wrangler"),
        args: ["dev", "--cwd", path.join(folder, project), ...where, ...vars],
        env: { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" },
      });
      await group.prints(/Ready on/);
      return { url: `http://${HOST}:${port}`, stop: () => group.stop() };
    },
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
