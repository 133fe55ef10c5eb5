// The package.json of an existing Worker. Called by add-to-worker.ts.
import { jsonc } from "./jsonc.ts";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** @throws Error where it is no JSON */
export const dependsOn = (text: string, name: string): boolean => {
  const { dependencies, devDependencies } = jsonc.parse(text) as Manifest;
  return dependencies?.[name] !== undefined || devDependencies?.[name] !== undefined;
};

export const withDependency = (text: string, name: string, version: string): string =>
  jsonc.set(text, ["dependencies", name], version);
