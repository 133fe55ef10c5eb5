// Tells another object or a queue what happens in the room: one call at a time, at once after quiet, then at most one per
// window, with doubled waits after failures. Used by listing, links and webhooks, each of which hands in an errand.
import { waitAfter, type Backoff } from "../../clock/backoff.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import type { Throttle } from "../../clock/throttle.ts";
import type { Room } from "./room.ts";

/** All times are milliseconds since 1970. */
export type CourierState =
  | { readonly is: "idle" }
  | { readonly is: "waiting"; readonly atMs: number }
  | { readonly is: "sending"; readonly sinceMs: number }
  | { readonly is: "retrying"; readonly attempt: number; readonly atMs: number };

/** The wait after failures, to be kept through a sleep. */
export type Retry = Pick<Extract<CourierState, { is: "retrying" }>, "attempt" | "atMs">;

export interface Collected<Parcel> {
  /** Absent where there is nothing to tell after all. */
  readonly parcel?: Parcel | undefined;
  /** More is left than a call takes: the next call need not wait for the window. */
  readonly isFull?: boolean;
}

/** The task of a courier, handed in by its feature. */
export interface Errand<Parcel, Receipt> {
  /** How long from one call to the next; `pass` is called after `collect`. */
  readonly throttle: Pick<Throttle, "dueMs" | "pass"> & { readonly reopen?: () => void };
  /** From a failure to the next try, in milliseconds. */
  readonly retryMs: Backoff;
  /** A call without an answer has failed after this; without it the courier waits for the answer. */
  readonly timeoutMs?: number;
  /** Whether there is something to tell. */
  readonly isBehind: () => boolean;
  /** @throws where that cannot be read: a failure */
  readonly collect: (nowMs: number) => Collected<Parcel>;
  readonly send: (parcel: Parcel) => Promise<Receipt>;
  /** A call was answered. @returns why that is a failure, where it is one */
  readonly settle: (parcel: Parcel, receipt: Receipt) => string | undefined;
  /** A try failed, or could not be made. @param waitMs until the next one */
  readonly failed: (error: unknown, waitMs: number) => void;
  /** Stores what has to outlive a sleep; called after each call that was settled or failed. */
  readonly keep: () => void;
  /** The state has changed: the place to set deadlines. */
  readonly schedule: () => void;
}

const IDLE: CourierState = { is: "idle" };

export class Courier<Parcel = unknown, Receipt = unknown> {
  readonly #room: Pick<Room, "now" | "turn">;
  readonly #errand: Errand<Parcel, Receipt>;
  #state: CourierState = IDLE;
  /** Failures in a row. */
  #failures = 0;
  /** Numbers the calls: only the answer to the latest counts, because one that was given up may be answered after all. */
  #call = 0;
  #isOver = false;

  constructor(room: Pick<Room, "now" | "turn">, errand: Errand<Parcel, Receipt>) {
    this.#room = room;
    this.#errand = errand;
  }

  get state(): CourierState {
    return this.#state;
  }

  get failures(): number {
    return this.#failures;
  }

  /** The time to call `run`; `undefined` while nothing is due. */
  get dueMs(): number | undefined {
    const { timeoutMs = Infinity } = this.#errand;
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

  /** To be kept where failures have to outlive a sleep. */
  get retry(): Retry | undefined {
    return this.#state.is === "retrying" ? { attempt: this.#state.attempt, atMs: this.#state.atMs } : undefined;
  }

  /** Goes on after a sleep. */
  restore({ attempt, atMs }: Retry): void {
    this.#failures = attempt;
    this.#change({ is: "retrying", attempt, atMs: Math.min(atMs, this.#room.now() + this.#waitMs) });
  }

  /** There may be something to tell: at once, or when the window is over. A wait after a failure goes on. */
  request(nowMs: number): void {
    const state = this.#inReach(nowMs);
    const isFree = state.is === "idle" || state.is === "waiting";
    if (isFree && !this.#isOver && this.#errand.isBehind()) this.#wait(nowMs);
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
    if (this.#state.is === "sending") this.#fail(new Error(`no answer for ${this.#errand.timeoutMs} ms`));
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
    const atMs = Math.max(nowMs, this.#errand.throttle.dueMs(nowMs));
    const isWaiting = this.#state.is === "waiting" && this.#state.atMs <= atMs;
    if (!isWaiting) this.#change({ is: "waiting", atMs });
  }

  /** The state, where the clock was set back since: nothing lies further ahead than it could. */
  #inReach(nowMs: number): CourierState {
    const state = this.#state;
    if (state.is === "sending" && state.sinceMs > nowMs) return { ...state, sinceMs: nowMs };
    if (state.is === "retrying" && state.atMs > nowMs + this.#waitMs) return { ...state, atMs: nowMs + this.#waitMs };
    return state;
  }

  get #waitMs(): number {
    return waitAfter(this.#errand.retryMs, this.#failures);
  }

  #send(nowMs: number): void {
    const { collect, send, throttle } = this.#errand;
    let collected: Collected<Parcel>;
    try {
      collected = collect(nowMs);
    } catch (error) {
      return this.#fail(error);
    }
    throttle.pass(nowMs);
    const { parcel, isFull } = collected;
    if (isFull) throttle.reopen?.();
    if (parcel === undefined) return this.#settled(this.#failures > 0);
    const call = ++this.#call;
    this.#change({ is: "sending", sinceMs: nowMs });
    const end = (outcome: () => void): void =>
      this.#room.turn(() => {
        if (this.#call === call && this.#state.is === "sending") outcome();
      });
    send(parcel).then(
      (receipt) => end(() => this.#answered(parcel, receipt)),
      (error: unknown) => end(() => this.#fail(error)),
    );
  }

  #answered(parcel: Parcel, receipt: Receipt): void {
    const reason = this.#errand.settle(parcel, receipt);
    if (reason === undefined) this.#settled(true);
    else this.#fail(new Error(reason));
  }

  #settled(isWorthKeeping: boolean): void {
    this.#failures = 0;
    this.#state = IDLE;
    if (isWorthKeeping) this.#errand.keep();
    const nowMs = this.#room.now();
    if (this.#errand.isBehind()) this.#wait(nowMs);
    else this.#errand.schedule();
  }

  #fail(error: unknown): void {
    this.#failures++;
    const waitMs = this.#waitMs;
    this.#state = { is: "retrying", attempt: this.#failures, atMs: this.#room.now() + waitMs };
    this.#errand.failed(error, waitMs);
    this.#errand.keep();
    this.#errand.schedule();
  }

  #change(state: CourierState): void {
    this.#state = state;
    this.#errand.schedule();
  }
}

/** The deadlines of couriers: one for what is due soon, which keeps the room awake, and one for retries, which wakes it. */
export class CourierClock {
  readonly #couriers: () => Iterable<Pick<Courier, "state" | "dueMs">>;
  readonly #soon: Deadline;
  readonly #later: Deadline;

  /** @param run called when one of them is due; runs each of them */
  constructor(
    { deadline }: Pick<Room, "deadline">,
    name: string,
    couriers: () => Iterable<Pick<Courier, "state" | "dueMs">>,
    run: (nowMs: number) => void,
  ) {
    this.#couriers = couriers;
    this.#soon = deadline(name, run, { keepsAwake: true });
    this.#later = deadline(`${name}-later`, run);
  }

  /** For `schedule` of their errands. */
  set(): void {
    let [soonMs, laterMs] = [Infinity, Infinity];
    for (const { state, dueMs = Infinity } of this.#couriers()) {
      if (state.is === "retrying") laterMs = Math.min(laterMs, dueMs);
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
