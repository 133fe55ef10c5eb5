// A project that a document describes, from the document's own words: the files that it shows, and the packages that it installs, in the
// versions of this repository. A line that the document lacks is missing there, too. Called by templates.test.ts.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { PROJECT_ROOT } from "./servers.ts";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** @param page a document in docs. @param example the folder of docs/examples whose files it shows */
export function writeDocumented(folder: string, page: string, example: string): void {
  const shown = new RegExp(`^\`\`\`\\w+\\n(?://|#) (?:docs/examples/${example}/)?([\\w.-]+)\\n([^]*?\\n)\`\`\`$`, "gm");
  for (const [, name, code] of textOf(page).matchAll(shown)) writeFileSync(path.join(folder, name!), code!);
  // npm writes nothing else into the package.json of an empty folder.
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ dependencies: documentedPackages(page) }));
}

/** The packages that a document installs. */
export function documentedPackages(page: string): Record<string, string> {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(path.join(PROJECT_ROOT, "package.json"), "utf8"),
  ) as Manifest;
  const versions = { ...devDependencies, ...dependencies };
  const installed = [...textOf(page).matchAll(/^npm install (?:-D )?(.+)$/gm)].flatMap(([, names]) =>
    names!.split(" "),
  );
  return Object.fromEntries(installed.map((name) => [name, versions[name] ?? "*"]));
}

const textOf = (page: string): string => readFileSync(path.join(PROJECT_ROOT, "docs", page), "utf8");
