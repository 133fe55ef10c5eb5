// The log of the rooms, as their operator would read it: what it tells of is trouble, unless the simulator made it.
import { RELAY_SEND_MS_MAX } from "../../src/chat/links/links.ts";
import { isTracing } from "./trace.ts";

/** What the stand-ins of the platform say when they fail because a plan says so. */
const MADE_HERE: ReadonlySet<string> = new Set([
  "disk I/O error",
  "the network failed",
  "the call failed",
  "the object died",
  "the queue did not answer",
  "this object is no more",
  // How a link tells of a storage that failed, its own or that at its other end, which has told of it in its own words.
  "the log could not be read",
  "the messages could not be stored",
  "a change could not be stored",
  // How it tells of a clock that was put ahead while a call was under way.
  `no answer for ${RELAY_SEND_MS_MAX} ms`,
]);

let listener: ((problem: string) => void) | undefined;

/** @param hear called with each problem that nobody planned, from now on */
export function onProblem(hear: (problem: string) => void): void {
  listener = hear;
}

/** Puts itself in place of the console, for the whole thread. */
export function hearLog(): void {
  const { error: print } = console;
  console.error = (...parts: unknown[]): void => {
    if (isTracing) print(...parts);
    const [line] = parts;
    const problem = typeof line === "string" ? problemOf(line) : undefined;
    if (problem !== undefined) listener?.(problem);
  };
  if (!isTracing) console.warn = console.info = () => {};
}

/** What a line of the log tells of, if that is somebody's fault. */
function problemOf(line: string): string | undefined {
  if (!line.startsWith("{")) return undefined;
  const { problem, message } = JSON.parse(line) as { readonly problem?: string; readonly message?: string };
  return problem === undefined || MADE_HERE.has(message ?? "") ? undefined : `${problem}: ${message}\n${line}`;
}
