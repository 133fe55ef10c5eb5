// The variables of wrangler.jsonc. Called by the objects.

export interface RaceVariables {
  /** How long the first player of a race waits for others. */
  readonly WAIT_MS: number | string;
  /** Keystrokes that come within this time are shown together; with 0 each by itself. */
  readonly TICK_MS: number | string;
}

/** @throws Error that names the variable which is wrong */
export function readSettings(variables: RaceVariables): { readonly waitMs: number; readonly tickMs: number } {
  return { waitMs: wholeMs("WAIT_MS", variables.WAIT_MS), tickMs: wholeMs("TICK_MS", variables.TICK_MS) };
}

/** A variable that is set by hand is a text. */
function wholeMs(name: string, value: number | string): number {
  const ms = Number(value);
  if (/^\d+$/.test(String(value)) && Number.isSafeInteger(ms)) return ms;
  throw new Error(`${name} has to be a whole number of milliseconds, not ${JSON.stringify(value)}.`);
}
