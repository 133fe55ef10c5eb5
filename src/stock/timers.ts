// Knows whose code runs, because timers are one for all objects of an isolate. Names an interval that keeps an object awake and billed without
// need, reports what a timer throws, which the platform tells no listener, and says whether code runs only to restore sockets after a sleep.
// Called by durable/engine-object.ts and the files of src/stock.
import { AsyncLocalStorage } from "node:async_hooks";

/** So long after its last client has gone, or after its last input, an object might sleep: a client that reconnects is back by then. */
export const QUIET_MS = 10_000;

/** So long after a wake, code that restores sockets is taken for what it was when they came first. */
const MUTED_MS = 10_000;

interface TimersPorts {
  now(): number;
  /** @param place an error made where the interval was set */
  report(problem: string, place: Error): void;
  /** Called with what a timer throws. */
  failed(error: unknown): void;
  /** Whether the object sleeps while clients are connected. */
  readonly sleeps?: boolean;
  /** Called when code of the application runs: it may change anything. */
  active?(): void;
}

type Callback = (this: unknown, ...args: unknown[]) => void;

/** The timers of one object. */
export class Timers {
  readonly #ports: TimersPorts;
  /** Since when no client is connected, once there was one. If the object sleeps: the time of the last input. */
  #quietSinceMs = Infinity;
  #isReported = false;
  readonly #own: Owner = { timers: this, mutedUntilMs: 0 };
  #restoring: Owner = this.#own;
  /** What listeners that restore sockets are at. */
  #work: Array<Promise<unknown>> = [];

  constructor(ports: TimersPorts) {
    watchTimers();
    this.#ports = ports;
  }

  /** Runs code of the application. */
  run<Result>(code: () => Result): Result {
    this.#ports.active?.();
    return owners.run(this.#own, code);
  }

  /** Called with what code of the application returned: it may go on after an `await`. */
  goesOn(result: unknown): void {
    if (!this.#ports.sleeps) return;
    const end = (): void => this.#ports.active?.();
    // A listener may run long after its event came: middlewares of `socket.use` have held it.
    if (!(result instanceof Promise)) return end();
    // The platform reports a promise that is rejected and left alone, as without this line.
    void result.finally(end);
    if (isRestoring()) this.#work.push(result.then(end, end));
  }

  /** Begins to restore sockets. */
  beginRestoring(): void {
    hasRestored = true;
    this.#restoring = { timers: this, mutedUntilMs: this.#ports.now() + MUTED_MS };
    this.#work = [];
  }

  /**
   * Runs code that restores a socket, with all that it awaits: nothing that it sends leaves, and rooms stay as they were.
   * @returns to be called with the first message of the socket: what the code does after that is no repetition
   */
  restore(code: () => void): () => void {
    const owner = { ...this.#restoring };
    owners.run(owner, code);
    return () => (owner.mutedUntilMs = 0);
  }

  /** Done when the listeners that restore sockets are. */
  restored(): Promise<unknown> {
    return Promise.all(this.#work);
  }

  isMuted(untilMs: number): boolean {
    return this.#ports.now() < untilMs;
  }

  /** Called when the first client has come, and when the last one has gone. */
  onPresence(hasClients: boolean): void {
    if (!this.#ports.sleeps) this.#quietSinceMs = hasClients ? Infinity : this.#ports.now();
  }

  /** Called for what wakes an object, or would. */
  onInput(): void {
    if (this.#ports.sleeps) this.#quietSinceMs = this.#ports.now();
  }

  /**
   * The timers of code that restores a socket are muted with it, and stay so when the socket is heard: they repeat what they did before.
   * @param began called before each run
   */
  shielded(callback: Callback, began: () => void): Callback {
    const owner = { ...owners.getStore()! };
    const run = (code: () => unknown): void => {
      began();
      this.#ports.active?.();
      try {
        this.goesOn(owners.run(owner, code));
      } catch (error) {
        this.#ports.failed(error);
      }
    };
    return function (...args) {
      run(() => callback.apply(this, args));
    };
  }

  /** Called each time that an interval runs. */
  ran(ms: unknown, place: Error): void {
    if (this.#isReported || this.#ports.now() - this.#quietSinceMs < QUIET_MS) return;
    this.#isReported = true;
    const during = this.#ports.sleeps ? "while nothing happens" : "without clients";
    const problem = `an interval of ${String(ms)} ms runs on ${during}: the object never sleeps, and is billed`;
    this.#ports.report(problem, place);
  }
}

/** Whose code runs, and for how long it only restores sockets. */
interface Owner {
  readonly timers: Timers;
  mutedUntilMs: number;
}

const owners = new AsyncLocalStorage<Owner | undefined>();

/** Mostly false, and each packet asks. */
let hasRestored = false;

/** Whether the running code restores sockets after a sleep. */
export function isRestoring(): boolean {
  if (!hasRestored) return false;
  const { timers, mutedUntilMs = 0 } = owners.getStore() ?? {};
  return mutedUntilMs > 0 && timers!.isMuted(mutedUntilMs);
}

/** Runs code of ours, whose timers are none of an application. */
export const outside = <Result>(code: () => Result): Result => owners.run(undefined, code);

/** Runs what has to happen even so. */
export const unmuted = <Result>(code: () => Result): Result =>
  isRestoring() ? owners.getStore()!.timers.run(code) : code();

const NAMES = ["setTimeout", "setInterval", "setImmediate"] as const;
type SetTimer = (callback: unknown, ...rest: readonly unknown[]) => unknown;
const scope = globalThis as unknown as Record<(typeof NAMES)[number], SetTimer>;
let isWatching = false;

function watchTimers(): void {
  if (isWatching) return;
  isWatching = true;
  for (const name of NAMES) {
    const set = scope[name];
    const watched: SetTimer = (callback, ...rest) => {
      const owner = owners.getStore()?.timers;
      if (!owner || typeof callback !== "function") return set(callback, ...rest);
      const place = name === "setInterval" ? new Error("set here") : undefined;
      const began = (): void => {
        if (place) owner.ran(rest[0], place);
      };
      return set(owner.shielded(callback as Callback, began), ...rest);
    };
    // `util.promisify` finds its own form of `setTimeout` there.
    scope[name] = Object.defineProperties(watched, Object.getOwnPropertyDescriptors(set));
  }
}
