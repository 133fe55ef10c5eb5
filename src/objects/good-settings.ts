// The settings of a deployment, for an object that cannot do without them.
import { settingsOf, type Settings } from "../settings/settings.ts";

/** @throws Error where one is bad; the Worker refuses everything then, so no object is asked */
export function goodSettingsOf(env: object): Settings {
  const result = settingsOf(env as Record<string, unknown>);
  if (!result.ok) throw new Error(`bad settings: ${result.problems.join("; ")}`);
  return result.settings;
}
