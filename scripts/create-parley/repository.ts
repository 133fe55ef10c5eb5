// The repository of a new project, and the button "Deploy to Cloudflare" of its README, which needs one. Called by arguments.ts, questions.ts
// and main.ts.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

import { Refusal } from "./refusal.ts";

/** As in the READMEs of the templates. */
const PLACEHOLDER = "github.com/OWNER/REPOSITORY";

const REMOTE =
  /^(?:https:\/\/(?:[^@/]+@)?|ssh:\/\/git@|git@)?(github\.com|gitlab\.com)[/:]([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/;

/**
 * @param text `owner/name` on GitHub, or an address on GitHub or GitLab, which the button can read
 * @returns `github.com/owner/name`
 * @throws Refusal
 */
export function repositoryOf(text: string): string {
  const found = repositoryAt(text) ?? (/^[\w.-]+\/[\w.-]+$/.test(text) ? `github.com/${text}` : undefined);
  if (found === undefined)
    throw new Refusal(`The repository "${text}" is neither owner/name nor an address on GitHub or GitLab.`);
  return found;
}

/** @returns that of the remote `origin` of a folder which is a repository itself, if the button can read it */
export function remoteOf(folder: string): string | undefined {
  if (!existsSync(path.join(folder, ".git"))) return undefined;
  const { stdout } = spawnSync("git", ["config", "--get", "remote.origin.url"], { cwd: folder, encoding: "utf8" });
  return repositoryAt((stdout ?? "").trim());
}

function repositoryAt(address: string): string | undefined {
  const [, host, name] = REMOTE.exec(address) ?? [];
  return host === undefined ? undefined : `${host}/${name}`;
}

/** @returns the README with a button for that repository; without one, with a sentence in its place that says how to add it */
export function withButton(readme: string, repository: string | undefined): string {
  if (repository !== undefined) return readme.replace(PLACEHOLDER, repository);
  const [button] = /^\[!\[Deploy to Cloudflare\].*$/m.exec(readme)!;
  return readme
    .replace(`${button}\n\n`, "")
    .replace(
      "The button deploys this project",
      `Once it has a repository, write this line at the top, with yours in the place of \`OWNER/REPOSITORY\`: \`${button}\`. The button deploys this project`,
    );
}
