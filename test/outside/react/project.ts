// A project with React and Vite in a temporary folder, with the packages that its package.json names. Called by example.test.ts.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { linkPackages } from "../installation.ts";
import { execute } from "../packages.ts";
import { freePort, HOST, ProcessGroup, PROJECT_ROOT } from "../servers.ts";

export class ReactProject {
  readonly folder = mkdtempSync(path.join(tmpdir(), "parley-react-"));
  readonly #groups: ProcessGroup[] = [];

  /** @param example a folder whose files the project has */
  static async of(example: string): Promise<ReactProject> {
    const project = new ReactProject();
    cpSync(path.join(PROJECT_ROOT, example), project.folder, { recursive: true });
    await linkPackages(project.folder);
    return project;
  }

  npm(...args: string[]): Promise<string> {
    // Vitest sets it, and a user's shell does not.
    const env = { NODE_ENV: undefined };
    return execute(["npm", ...args], { cwd: this.folder, env });
  }

  readonly #vite = (): string => path.join(this.folder, "node_modules", "vite", "bin", "vite.js");

  /** With React's checks and its strict mode, which `npm run build` leaves out. */
  buildForDevelopment(): Promise<string> {
    const args = ["build", "--mode", "development", "--outDir", "development", "--logLevel", "warn"];
    const env = { NODE_ENV: "development" };
    return execute([process.execPath, this.#vite(), ...args], { cwd: this.folder, env });
  }

  /** Serves the build for development, and passes the chat's addresses on to the server `chat`. @returns the address */
  async serve(chat: string): Promise<string> {
    const port = await freePort();
    const where = ["--outDir", "development", "--host", HOST, "--port", String(port), "--strictPort"];
    const group = new ProcessGroup({
      args: [this.#vite(), "preview", this.folder, ...where],
      env: { PARLEY_URL: chat, NODE_ENV: "development" },
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
