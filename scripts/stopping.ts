// Tells a command of this project when it has to end: at a signal, or when run.mjs, which started it, is gone. The commands call it, so
// that what they started ends with them.

const STOPS = ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"] as const;

/** A program that was ended by Ctrl-C has this exit code. */
export const EXIT_INTERRUPTED = 130;

/** @param stop may come several times: a terminal tells its Ctrl-C to every process of a command, and run.mjs passes it on */
export function onStop(stop: () => void): void {
  for (const name of STOPS) process.on(name, stop);
  // To listen alone is no reason to stay.
  process.channel?.unref();
}

/** For commands that end what they started when they exit. */
export function exitOnStop(): void {
  onStop(() => process.exit(EXIT_INTERRUPTED));
}
