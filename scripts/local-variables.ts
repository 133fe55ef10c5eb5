// Settings and secrets on a developer's machine: those of the environment win over those of .dev.vars,
// and a missing .dev.vars is made with a secret of its own.
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";

import { readSettings, type Settings } from "../src/settings/settings.ts";
import { misspeltIn } from "./misspelt-settings.ts";
import { overridesFromEnvironment } from "./setting-overrides.ts";

export const PROJECT_ROOT = path.join(import.meta.dirname, "..");
const DEV_VARS = path.join(PROJECT_ROOT, ".dev.vars");

/**
 * All settings of the local server, by name.
 * @param environment whose rules hold where neither .dev.vars nor the environment sets one
 */
export function readLocalVariables(environment: Settings["environment"] = "development"): Record<string, string> {
  return { ENVIRONMENT: environment, ...readDevVars(), ...overridesFromEnvironment() };
}

/** @throws Error that names every setting which is wrong */
export function readLocalSettings(environment?: Settings["environment"]): Settings {
  const result = readSettings(readLocalVariables(environment));
  if (!result.ok)
    throw new Error(["These settings are wrong:", ...result.problems.map((problem) => `  ${problem}`)].join("\n"));
  return result.settings;
}

/**
 * Warns of each variable of .dev.vars and of the environment that is no setting and nearly has the name of one. In the
 * environment only names of several words count: a single word may well belong to another program.
 */
export function warnOfMisspeltSettings(): void {
  const given = [...Object.keys(parseDevVars()), ...Object.keys(process.env).filter((name) => name.includes("_"))];
  for (const warning of misspeltIn(new Set(given)))
    console.error(JSON.stringify({ level: "warn", event: "settings.warning", warning }));
}

/** Settings that are not as by default on this machine, keys and addresses with keys apart. */
export function readChangedSettings(): Record<string, string> {
  const given = Object.entries({ ...parseDevVars(), ...overridesFromEnvironment() });
  return Object.fromEntries(given.filter(([name]) => !/^(JWT|WEBHOOK)_/.test(name)));
}

function parseDevVars(): Record<string, string> {
  return existsSync(DEV_VARS) ? (parseEnv(readFileSync(DEV_VARS, "utf8")) as Record<string, string>) : {};
}

function readDevVars(): Record<string, string> {
  const variables = parseDevVars();
  if (variables["JWT_SECRET"]) return variables;
  const secret = randomBytes(32).toString("base64url");
  const heading = existsSync(DEV_VARS)
    ? "\n"
    : "# Local settings and secrets, one NAME=value a line. Never committed.\n";
  appendFileSync(DEV_VARS, `${heading}JWT_SECRET=${secret}\n`, { mode: 0o600 });
  return { ...variables, JWT_SECRET: secret };
}
