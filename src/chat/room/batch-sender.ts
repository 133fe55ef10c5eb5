// Sends news of the room to another object or a queue: one call at a time, at once after quiet, then at most one per
// window, with doubled waits after failures. Used by the directory, the relay and webhooks, each of which hands in its options.
import { waitAfter, type Backoff, type Throttle } from "../../clock/rates.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import type { Room } from "./room.ts";

/** All times are milliseconds since 1970. */
export type SenderState =
  | { readonly is: "idle" }
  | { readonly is: "waiting"; readonly atMs: number }
  | { readonly is: "sending"; readonly sinceMs: number }
  | { readonly is: "retrying"; readonly attempt: number; readonly atMs: number };

/** The wait after failures, to be kept through a sleep. */
export type Retry = Pick<Extract<SenderState, { is: "retrying" }>, "attempt" | "atMs">;

export interface Collected<Batch> {
  /** Absent where there is nothing to send after all. */
  readonly batch?: Batch | undefined;
  /** More is left than a call takes: the next call need not wait for the window. */
  readonly isFull?: boolean;
}

/** The options that a feature gives its sender. */
export interface SenderOptions<Batch, Answer> {
  /** How long from one call to the next; `pass` is called after `collect`. */
  readonly throttle: Pick<Throttle, "dueMs" | "pass"> & { readonly reopen?: () => void };
  /** From a failure to the next try, in milliseconds. */
  readonly retryMs: Backoff;
  /** A call without an answer has failed after this; without it the sender waits for the answer. */
  readonly timeoutMs?: number;
  /** Whether there is something to send. */
  readonly isBehind: () => boolean;
  /** @throws where that cannot be read: a failure */
  readonly collect: (nowMs: number) => Collected<Batch>;
  readonly send: (batch: Batch) => Promise<Answer>;
  /** A call was answered. @returns why that is a failure, where it is one */
  readonly settle: (batch: Batch, answer: Answer) => string | undefined;
  /** A try failed, or could not be made. @param waitMs until the next one */
  readonly failed: (error: unknown, waitMs: number) => void;
  /** Stores the state that has to outlive a sleep; called after each call that was settled or failed. */
  readonly keep: () => void;
  /** The state has changed: the place to set deadlines. */
  readonly schedule: () => void;
}

const IDLE: SenderState = { is: "idle" };

export class BatchSender<Batch = unknown, Answer = unknown> {
  readonly #room: Pick<Room, "now" | "turn">;
  readonly #options: SenderOptions<Batch, Answer>;
  #state: SenderState = IDLE;
  /** Failures in a row. */
  #failures = 0;
  /** Numbers the calls: only the answer to the latest counts, because one that was given up may be answered after all. */
  #call = 0;
  #isOver = false;

  constructor(room: Pick<Room, "now" | "turn">, options: SenderOptions<Batch, Answer>) {
    this.#room = room;
    this.#options = options;
  }

  get state(): SenderState {
    return this.#state;
  }

  get failures(): number {
    return this.#failures;
  }

  /** The time to call `run`; `undefined` while nothing is due. */
  get dueMs(): number | undefined {
    const { timeoutMs = Infinity } = this.#options;
    switch (this.#state.is) {
      case "idle":
        return undefined;
      case "sending":
        return timeoutMs < Infinity ? this.#state.sinceMs + timeoutMs : undefined;
      case "waiting":
      case "retrying":
        return this.#state.atMs;
    }
  }

  /** The room may sleep through the wait after a failure. */
  get maySleep(): boolean {
    return this.#state.is === "retrying";
  }

  /** To be kept where failures have to outlive a sleep. */
  get retry(): Retry | undefined {
    return this.#state.is === "retrying" ? { attempt: this.#state.attempt, atMs: this.#state.atMs } : undefined;
  }

  /** Goes on after a sleep. */
  restore({ attempt, atMs }: Retry): void {
    this.#failures = attempt;
    this.#change({ is: "retrying", attempt, atMs: Math.min(atMs, this.#room.now() + this.#waitMs) });
  }

  /** There may be something to send: at once, or when the window is over. A wait after a failure goes on. */
  request(nowMs: number): void {
    const state = this.#inReach(nowMs);
    const isFree = state.is === "idle" || state.is === "waiting";
    if (isFree && !this.#isOver && this.#options.isBehind()) this.#wait(nowMs);
    else if (state !== this.#state) this.#change(state);
  }

  /** Ends the wait after a failure: the next try is made as soon as the window allows. */
  hurry(nowMs: number): void {
    if (this.#state.is === "retrying") this.#wait(nowMs);
  }

  /** Called when something is due: makes a call, or gives up one that has no answer. */
  run(nowMs: number): void {
    const { dueMs } = this;
    if (dueMs === undefined || nowMs < dueMs) return;
    if (this.#state.is === "sending") this.#fail(new Error(`no answer for ${this.#options.timeoutMs} ms`));
    else this.#send(nowMs);
  }

  /** Ignores the answer to the call under way, and sends its contents again. */
  drop(nowMs: number): void {
    if (this.#state.is === "sending") this.#wait(nowMs);
  }

  /** Sends no more, and ignores answers. */
  stop(): void {
    this.#isOver = true;
    this.#change(IDLE);
  }

  #wait(nowMs: number): void {
    const atMs = Math.max(nowMs, this.#options.throttle.dueMs(nowMs));
    const isWaiting = this.#state.is === "waiting" && this.#state.atMs <= atMs;
    if (!isWaiting) this.#change({ is: "waiting", atMs });
  }

  /** The state, where the clock was set back since: nothing lies further ahead than it could. */
  #inReach(nowMs: number): SenderState {
    const state = this.#state;
    if (state.is === "sending" && state.sinceMs > nowMs) return { ...state, sinceMs: nowMs };
    if (state.is === "retrying" && state.atMs > nowMs + this.#waitMs) return { ...state, atMs: nowMs + this.#waitMs };
    return state;
  }

  get #waitMs(): number {
    return waitAfter(this.#options.retryMs, this.#failures);
  }

  #send(nowMs: number): void {
    const { collect, send, settle, throttle } = this.#options;
    let collected: Collected<Batch>;
    try {
      collected = collect(nowMs);
    } catch (error) {
      return this.#fail(error);
    }
    throttle.pass(nowMs);
    const { batch, isFull } = collected;
    if (isFull) throttle.reopen?.();
    if (batch === undefined) return this.#settled(this.#failures > 0);
    const call = ++this.#call;
    this.#change({ is: "sending", sinceMs: nowMs });
    const end = (outcome: () => void): void =>
      this.#room.turn(() => {
        if (this.#call === call && this.#state.is === "sending") outcome();
      });
    send(batch).then(
      (answer) =>
        end(() => {
          const reason = settle(batch, answer);
          if (reason === undefined) this.#settled(true);
          else this.#fail(new Error(reason));
        }),
      (error: unknown) => end(() => this.#fail(error)),
    );
  }

  #settled(isWorthKeeping: boolean): void {
    this.#failures = 0;
    this.#state = IDLE;
    if (isWorthKeeping) this.#options.keep();
    const nowMs = this.#room.now();
    if (this.#options.isBehind()) this.#wait(nowMs);
    else this.#options.schedule();
  }

  #fail(error: unknown): void {
    this.#failures++;
    const waitMs = this.#waitMs;
    this.#state = { is: "retrying", attempt: this.#failures, atMs: this.#room.now() + waitMs };
    this.#options.failed(error, waitMs);
    this.#options.keep();
    this.#options.schedule();
  }

  #change(state: SenderState): void {
    this.#state = state;
    this.#options.schedule();
  }
}

/** Work with a due time: a sender, or other work of the feature that owns the clock. */
export interface Due {
  /** `undefined` while nothing is due. */
  readonly dueMs: number | undefined;
  /** Whether the room may sleep until then. */
  readonly maySleep: boolean;
}

/** The deadlines of a feature with senders: one for which the room stays awake, and one that wakes it. */
export class SenderClock {
  readonly #dues: () => Iterable<Due>;
  readonly #soon: Deadline;
  readonly #later: Deadline;

  /** @param run called when any of the work is due; runs all that is */
  constructor(
    { deadline }: Pick<Room, "deadline">,
    name: string,
    dues: () => Iterable<Due>,
    run: (nowMs: number) => void,
  ) {
    this.#dues = dues;
    this.#soon = deadline(name, run, { keepsAwake: true });
    this.#later = deadline(`${name}-later`, run);
  }

  /** For `schedule` in their options. */
  set(): void {
    let [soonMs, laterMs] = [Infinity, Infinity];
    for (const { dueMs = Infinity, maySleep } of this.#dues()) {
      if (maySleep) laterMs = Math.min(laterMs, dueMs);
      else soonMs = Math.min(soonMs, dueMs);
    }
    setTo(this.#soon, soonMs);
    setTo(this.#later, laterMs);
  }
}

function setTo(deadline: Deadline, atMs: number): void {
  if (atMs === Infinity) deadline.clear();
  else deadline.set(atMs);
}
