// Runs application code, and reports its failures to the operator's log. Not without end: clients may bring about a failure at any rate, come back,
// and bring it about again. Called by sockets.ts, connects.ts and namespace.ts. Others that call such code learn here whether its answer comes
// later (`isPromise`).
import { Window } from "../../clock/rates.ts";
import { SessionFlood } from "../engine/session-flood.ts";
import type { Session } from "../engine/session.ts";

/** Failures for one session that stand in the log, in its window. */
export const FAILURES_LOGGED_MAX = 10;

/** Sessions, or runs of an interval, for which one and the same failure stands in the log in five minutes. */
export const FAILURE_LOGGED_MAX = 3;
export const FAILURE_WINDOW_MS = 300_000;

/** Failures that are counted at a time: each one, and it once more for each session that had it. */
const FAILURES_KNOWN_MAX = 2000;

/** Characters of a problem in the log: clients choose the names of events. */
const NAMED_CHARS_MAX = 100;

const AGAIN = ", again and again: not logged any more for five minutes";

interface FailuresPorts {
  now(): number;
  report(problem: string, error: unknown): void;
}

interface Running {
  /** For which the code runs; none for an interval. */
  readonly session?: Session;
  /** Called after code that outlasted its turn. */
  readonly finished?: () => void;
  /** Called after a failure. */
  readonly failed?: (() => void) | undefined;
}

export class Failures {
  readonly #ports: FailuresPorts;
  readonly #ofSessions = new SessionFlood(FAILURES_LOGGED_MAX);
  /** By problem and error, and the same for each session. */
  readonly #times = new Window(FAILURE_WINDOW_MS, FAILURES_KNOWN_MAX);

  constructor(ports: FailuresPorts) {
    this.#ports = ports;
  }

  /**
   * Runs application code, whose failure is for the log alone.
   * @param what names the failure in the log
   * @returns a promise for code that outlasts the turn
   */
  run(what: string, code: () => unknown, { session, finished, failed }: Running = {}): void | Promise<void> {
    const fail = (error: unknown): void => {
      this.report(what, error, session);
      failed?.();
    };
    try {
      const result = code();
      if (isPromise(result)) return Promise.resolve(result).then(() => finished?.(), fail);
    } catch (error) {
      fail(error);
    }
  }

  report(what: string, error: unknown, session?: Session): void {
    const nowMs = this.#ports.now();
    if (session && this.#ofSessions.isOver(session, nowMs)) return;
    const problem = what.slice(0, NAMED_CHARS_MAX);
    const message = error instanceof Error ? error.message.slice(0, NAMED_CHARS_MAX) : typeof error;
    const failure = `${problem}: ${message}`;
    const isNew = !session || this.#times.count(`${session.sid} ${failure}`, nowMs) === 1;
    const times = isNew ? this.#times.count(failure, nowMs) : this.#times.countOf(failure, nowMs);
    if (times <= FAILURE_LOGGED_MAX) this.#ports.report(problem, error);
    else if (isNew && times === FAILURE_LOGGED_MAX + 1) this.#ports.report(problem + AGAIN, error);
  }

  /** Called when a session is over. */
  forget(session: Session): void {
    this.#ofSessions.forget(session);
  }
}

/** Tells a promise of any kind, which the language tells by its method `then`; a field of that name makes no promise of a value. */
export function isPromise<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  // The promise of a call to another Worker is a function.
  if ((typeof value !== "object" || value === null) && typeof value !== "function") return false;
  return typeof (value as Partial<PromiseLike<Value>>).then === "function";
}
