// A project with React and Vite in a temporary folder: the package `parley-rooms` as a release has it, and the packages that npm installs
// beside it. Called by the tests of the hooks.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { emitLibrary } from "../../../scripts/package/emit.ts";
import { execute } from "../packages.ts";
import { freePort, HOST, ProcessGroup, PROJECT_ROOT } from "../servers.ts";

const COMMAND_MS_MAX = 120_000;
/** As npm installs them for the project, beside the dependencies of `parley-rooms`. */
const INSTALLED = ["@cloudflare", "@types", "@vitejs", "react", "react-dom", "typescript", "vite"];

export class ReactProject {
  readonly folder = mkdtempSync(path.join(tmpdir(), "parley-react-"));
  readonly #groups: ProcessGroup[] = [];

  /** @param example a folder whose files the project has */
  static async of(example: string): Promise<ReactProject> {
    const project = new ReactProject();
    cpSync(path.join(PROJECT_ROOT, example), project.folder, { recursive: true });
    const modules = project.#path("node_modules");
    const parley = path.join(modules, "parley-rooms");
    mkdirSync(parley, { recursive: true });
    const manifest = JSON.parse(readFileSync(path.join(PROJECT_ROOT, "package.json"), "utf8")) as {
      dependencies: object;
    };
    const needed = Object.keys(manifest.dependencies).map((name) => name.split("/", 1)[0]!);
    for (const name of new Set([...INSTALLED, ...needed]))
      symlinkSync(path.join(PROJECT_ROOT, "node_modules", name), path.join(modules, name));
    cpSync(path.join(PROJECT_ROOT, "package.json"), path.join(parley, "package.json"));
    await emitLibrary(path.join(parley, "dist", "lib"), ["src/entries", "client/entries"]);
    return project;
  }

  readonly #path = (...names: string[]): string => path.join(this.folder, ...names);

  /** @throws Error with the compiler's text where a type is wrong */
  compile(...args: string[]): Promise<string> {
    return execute([this.#path("node_modules", "typescript", "bin", "tsc"), ...args], COMMAND_MS_MAX, {
      cwd: this.folder,
    });
  }

  /** @param mode `development` has React's checks, and its strict mode */
  build(mode: "development" | "production"): Promise<string> {
    const vite = this.#path("node_modules", "vite", "bin", "vite.js");
    const args = ["build", "--mode", mode, "--outDir", mode, "--logLevel", "warn"];
    return execute([process.execPath, vite, ...args], COMMAND_MS_MAX, { cwd: this.folder, env: { NODE_ENV: mode } });
  }

  /** Serves the built files, and passes requests on to the chat server. @returns the address */
  async serve(mode: "development" | "production", chat: string): Promise<string> {
    const port = await freePort();
    const vite = this.#path("node_modules", "vite", "bin", "vite.js");
    const where = ["--outDir", mode, "--host", HOST, "--port", String(port), "--strictPort"];
    const group = new ProcessGroup({
      args: [vite, "preview", this.folder, ...where],
      env: { PARLEY_URL: chat, NODE_ENV: mode },
    });
    this.#groups.push(group);
    await group.prints(/Local:/);
    return `http://${HOST}:${port}`;
  }

  async end(): Promise<void> {
    await Promise.all(this.#groups.map((group) => group.stop()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}
