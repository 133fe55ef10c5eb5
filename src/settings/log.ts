// Writes the log, one line of JSON per event. Called by the Worker and the objects. A line has the facts that its caller names, and
// never a token, a message or an address with its query; of an error it has the message and the place, unless that may quote input.

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The facts of a line besides its level and event. */
export type LogFacts = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface LogSettings {
  readonly logLevel: LogLevel;
  /** The share of lines below `warn` that is written; 1 is all. */
  readonly logSampling: number;
}

/**
 * Writes a line, as far as the settings want it.
 * @param settings `undefined` where the caller has none: every line is written
 * @param event `area.what`, a constant name
 */
export function writeLog(
  settings: LogSettings | undefined,
  level: LogLevel,
  event: string,
  facts: LogFacts = {},
): void {
  if (settings && !isWanted(settings, level)) return;
  console[level](JSON.stringify({ level, event, ...facts }));
}

function isWanted({ logLevel, logSampling }: LogSettings, level: LogLevel): boolean {
  const rank = LOG_LEVELS.indexOf(level);
  if (rank < LOG_LEVELS.indexOf(logLevel)) return false;
  return rank >= LOG_LEVELS.indexOf("warn") || logSampling >= 1 || Math.random() < logSampling;
}

/** Lines of a stack that a log shows. */
const STACK_LINES_MAX = 8;

/** The message of an error and its place. A syntax error quotes its input, so its message is left out. */
export function errorFacts(error: unknown): LogFacts {
  if (!(error instanceof Error)) return { error: typeof error };
  const { name, message, stack = "" } = error;
  const at = stack.match(/(?<=^\s+)at .*/gm)?.slice(0, STACK_LINES_MAX);
  return { error: name, ...(error instanceof SyntaxError ? {} : { message }), ...(at && { at }) };
}

/** Logs a failure that the operator should know. */
export function logProblem(event: string, problem: string, error: unknown, facts: LogFacts = {}): void {
  writeLog(undefined, "error", event, { ...facts, problem, ...errorFacts(error) });
}
