// Reads the lines that the simulated servers write with `console.error`: a line with a `problem` is a bug, unless a fault of the plan caused it.
// Called by run.ts.
import { RELAY_SEND_MS_MAX } from "../../src/features/relay/links.ts";
import { isPlanned } from "../kit/simulation.ts";

/** Error texts that the faults of a plan cause, besides those of the kit. */
const PLANNED: ReadonlySet<string> = new Set([
  "the rule failed",
  // A rule that never answers, or whose room's clock was set ahead.
  "beforePost took longer than 5000 ms",
  // A link reports that a storage failed, in its own room or in the other one. That room has logged the cause itself.
  "the log could not be read",
  "the messages could not be stored",
  "a change could not be stored",
  // A link reports this when a clock was set ahead during its call.
  `no answer for ${RELAY_SEND_MS_MAX} ms`,
]);

/** @returns the problem that a line reports, unless a fault of the plan caused it */
export function problemOf(line: string): string | undefined {
  if (!line.startsWith("{")) return isPlanned(line) ? undefined : line;
  const { problem, message = "" } = JSON.parse(line) as { readonly problem?: string; readonly message?: string };
  return problem === undefined || PLANNED.has(message) || isPlanned(message)
    ? undefined
    : `${problem}: ${message}\n${line}`;
}
