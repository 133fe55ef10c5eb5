// Listens to what the simulated servers write with `console.error`. A line with a `problem` is a bug, unless a fault of the plan caused
// it. Called by worker.ts and run.ts.
import { RELAY_SEND_MS_MAX } from "../../src/chat/links/links.ts";
import { isTracing } from "../kit/simulator/trace.ts";

/** Error texts that the faults of a plan cause. */
const PLANNED: ReadonlySet<string> = new Set([
  "disk I/O error",
  "the network failed",
  "the call failed",
  "the object died",
  "the queue did not answer",
  "this object is no more",
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

let listener: ((problem: string) => void) | undefined;

/** @param hear called from now on with each problem that no fault of the plan caused */
export function onProblem(hear: (problem: string) => void): void {
  listener = hear;
}

/** Replaces the console of the whole thread. Only lines of `console.error` are checked. */
export function checkConsole(): void {
  const { error: print } = console;
  console.error = (...parts: unknown[]): void => {
    if (isTracing) print(...parts);
    const [line] = parts;
    const problem = typeof line === "string" ? problemOf(line) : undefined;
    if (problem !== undefined) listener?.(problem);
  };
  if (!isTracing) console.warn = console.info = () => {};
}

/** @returns the problem that a line reports, unless a fault of the plan caused it */
function problemOf(line: string): string | undefined {
  if (!line.startsWith("{")) return undefined;
  const { problem, message } = JSON.parse(line) as { readonly problem?: string; readonly message?: string };
  return problem === undefined || PLANNED.has(message ?? "") ? undefined : `${problem}: ${message}\n${line}`;
}
