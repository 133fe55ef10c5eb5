// The console of a thread: a line that the code under test writes with `console.error` is a problem, unless a fault of the plan caused it. Nothing
// is printed without the option `trace`. Installed by install.ts.
import { isTracing } from "./trace.ts";

let listener: ((line: string) => void) | undefined;

/** @param hear called from now on with each line of `console.error` */
export function onConsoleError(hear: (line: string) => void): void {
  listener = hear;
}

export function replaceConsole(): void {
  const { error: print } = console;
  console.error = (...parts: unknown[]): void => {
    if (isTracing) print(...parts);
    listener?.(parts.map((part) => (part instanceof Error ? (part.stack ?? part.message) : String(part))).join(" "));
  };
  if (!isTracing) console.warn = console.info = console.debug = console.log = () => {};
}
