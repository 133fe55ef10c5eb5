// Errors that the faults of a plan cause, which are no trouble of the code under test.

/** Their messages. */
export const PLANNED = {
  storage: "disk I/O error",
  network: "the network failed",
  call: "the call failed",
  died: "the object died",
  queue: "the queue did not answer",
  gone: "this object is no more",
} as const;

const MESSAGES: ReadonlySet<string> = new Set(Object.values(PLANNED));

/** @param problem an error, or the text of one */
export function isPlanned(problem: unknown): boolean {
  if (problem instanceof Error) return MESSAGES.has(problem.message) || isPlanned(problem.cause);
  return typeof problem === "string" && [...MESSAGES].some((message) => problem.includes(message));
}

/** The message of an error, with the place. */
export const textOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
