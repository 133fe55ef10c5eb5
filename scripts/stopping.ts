// Notices that a command has to end: at a signal, or when run.mjs, its parent, is gone. The commands call it to end their
// child processes.

const STOPS = ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"] as const;

/** A program that was ended by Ctrl-C has this exit code. */
export const EXIT_INTERRUPTED = 130;

/** @param stop may come several times: a terminal tells its Ctrl-C to every process of a command, and run.mjs passes it on */
export function onStop(stop: () => void): void {
  for (const name of STOPS) process.on(name, stop);
  // To listen alone is no reason to stay.
  process.channel?.unref();
}

/** For commands that end their child processes when they exit. */
export function exitOnStop(): void {
  onStop(() => process.exit(EXIT_INTERRUPTED));
}
