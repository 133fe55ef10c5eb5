// What the log says: one line of JSON for each thing worth it. Never a token, never what was said, never an address with its
// query: only what is named here gets in, and of an error what it says and where, unless that may quote its input.

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a line tells besides its level and event. */
export type LogFacts = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface LogSettings {
  readonly logLevel: LogLevel;
  /** Of lines below `warn`, the share that is written; 1 is all. */
  readonly logSampling: number;
}

/** @param event what happened, `area.what`, the same for every time that it does */
export function writeLog(level: LogLevel, event: string, facts: LogFacts = {}): void {
  console[level](JSON.stringify({ level, event, ...facts }));
}

/** For what is no trouble: written as far as the settings want it. */
export function maybeLog(
  { logLevel, logSampling }: LogSettings,
  level: "debug" | "info",
  event: string,
  facts: LogFacts = {},
): void {
  if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(logLevel)) return;
  if (logSampling < 1 && Math.random() >= logSampling) return;
  writeLog(level, event, facts);
}

/** Lines of a stack that a log shows. */
const STACK_LINES_MAX = 8;

/** What an error says, and where it comes from. What cannot be parsed is quoted in the error: that is left out. */
export function errorFacts(error: unknown): LogFacts {
  if (!(error instanceof Error)) return { error: typeof error };
  const { name, message, stack = "" } = error;
  const at = stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, STACK_LINES_MAX)
    .map((line) => line.trim());
  return { error: name, ...(error instanceof SyntaxError ? {} : { message }), ...(at.length > 0 && { at }) };
}

/** Something that went wrong here, and that the operator should hear of. */
export function logProblem(event: string, problem: string, error: unknown, facts: LogFacts = {}): void {
  writeLog("error", event, { ...facts, problem, ...errorFacts(error) });
}
