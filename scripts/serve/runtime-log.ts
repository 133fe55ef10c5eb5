// Turns lines of workerd and Miniflare into lines of the operator's log: JSON, without queries of addresses and without values
// that clients sent. Called by runtime.ts.
import { stripVTControlCharacters } from "node:util";

import { Log, LogLevel } from "miniflare";

/** The way in which the lines of the Worker itself begin (src/settings/log.ts). */
const WORKER_LINE = '{"level":';
const MESSAGE_CHARS_MAX = 500;
const PLACES_MAX = 8;
/** The values that a failed check of workerd adds to its message, such as the address of a request. SQLite's errors hold none of clients. */
const CHECKED_VALUES = /; (?!dbErrorMessage)[^;=]* = .*/;

export function writeRuntimeLine({ level, message }: { level: string; message: string }): void {
  console.error(runtimeLine(level, message));
}

/** @param message of the Worker, which is a line already, or of the runtime itself */
export function runtimeLine(level: string, message: string): string {
  if (message.startsWith(WORKER_LINE)) return message;
  const [first = "", ...rest] = message.split("\n");
  // The stack of workerd itself holds numbers only; that of a Worker has places in its code.
  const at = rest.filter((line) => /^\s+at /.test(line)).slice(0, PLACES_MAX);
  return JSON.stringify({
    level: level === "log" ? "info" : level,
    event: "runtime.message",
    message: withoutInput(first).slice(0, MESSAGE_CHARS_MAX),
    ...(at.length > 0 && { at: at.map((line) => withoutInput(line.trim())) }),
  });
}

function withoutInput(text: string): string {
  return text
    .replace(CHECKED_VALUES, "")
    .replace(/(\/[^\s?"']*)[?#][^\s"')]*/g, "$1")
    .replace(/:\/\/[^\s/@]*@/g, "://");
}

/** Miniflare's own words, such as that workerd crashed and starts again. */
export class RuntimeLog extends Log {
  readonly #write: typeof writeRuntimeLine;

  constructor(write = writeRuntimeLine) {
    super(LogLevel.WARN);
    this.#write = write;
  }

  override logWithLevel(level: LogLevel, message: string): void {
    if (level > this.level) return;
    this.#write({
      level: level === LogLevel.ERROR ? "error" : "warn",
      message: stripVTControlCharacters(message),
    });
  }
}
