// Settings in the environment of this process, which win over those of files. Called by local-variables.ts and by command/token.ts.
import { SETTING_NAMES } from "../src/settings/settings.ts";

/** Settings that the environment of this process gives; an empty value counts as none. */
export function overridesFromEnvironment(): Record<string, string> {
  return Object.fromEntries(
    SETTING_NAMES.map((name) => [name, process.env[name]] as const).filter((entry): entry is [string, string] =>
      Boolean(entry[1]),
    ),
  );
}
