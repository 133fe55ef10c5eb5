// Reads settings from the environment of this process. Called by dev-server.ts, local-variables.ts, command/token.ts and the process of a test
// server (test/outside/server-process.ts).
import { SETTING_NAMES } from "../src/settings/settings.ts";

/** Settings that the environment of this process gives, which win over those of files; an empty value counts as none. */
export function overridesFromEnvironment(): Record<string, string> {
  const given = SETTING_NAMES.map((name) => [name, process.env[name] ?? ""] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== ""));
}
