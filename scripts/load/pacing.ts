// Plans the moment of each post. Moments are fixed beforehand, so that a slow server cannot slow down the measurement.
import { nowUs } from "./clock.ts";
import type { Pace } from "./messages.ts";

const US_PER_SECOND = 1e6;
const TICK_MS = 1;

/** Posts for a user. @param done to be called when the answer is there */
export type PostFor = (user: number, dueUs: number, done: () => void) => void;

export interface Pacing {
  stop(): void;
}

/** @param random from 0 to 1, for tests to decide */
export function startPacing(pace: Pace, users: number, post: PostFor, random = Math.random): Pacing {
  if (users === 0) return { stop: () => undefined };
  if (pace.kind === "think") return new Thinking(pace, users, post, random);
  const timer = setInterval(
    postDue(new Arrivals(users * pace.perUserPerSecond, users, nowUs(), random), post),
    TICK_MS,
  );
  return { stop: () => clearInterval(timer) };
}

/** Many independent users together are a Poisson process; each of its events is of a random user. */
export class Arrivals {
  readonly #perSecond: number;
  readonly #users: number;
  readonly #random: () => number;
  #nextUs: number;

  constructor(perSecond: number, users: number, fromUs: number, random: () => number) {
    this.#perSecond = perSecond;
    this.#users = users;
    this.#random = random;
    this.#nextUs = fromUs + this.#pauseUs();
  }

  /** @returns the next one that is due, or `undefined` */
  take(us: number): { user: number; dueUs: number } | undefined {
    if (!(this.#nextUs <= us)) return undefined;
    const dueUs = this.#nextUs;
    this.#nextUs += this.#pauseUs();
    return { user: Math.trunc(this.#random() * this.#users), dueUs };
  }

  #pauseUs(): number {
    return (-Math.log(1 - this.#random()) / this.#perSecond) * US_PER_SECOND;
  }
}

function postDue(arrivals: Arrivals, post: PostFor): () => void {
  return () => {
    const us = nowUs();
    for (let due = arrivals.take(us); due; due = arrivals.take(us)) post(due.user, due.dueUs, () => undefined);
  };
}

class Thinking implements Pacing {
  readonly #pace: Extract<Pace, { kind: "think" }>;
  readonly #post: PostFor;
  readonly #random: () => number;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  #isOver = false;

  constructor(pace: Extract<Pace, { kind: "think" }>, users: number, post: PostFor, random: () => number) {
    this.#pace = pace;
    this.#post = post;
    this.#random = random;
    for (let user = 0; user < users; user++) this.#think(user, random());
  }

  /** @param share of the pause: at the start each client is somewhere within it */
  #think(user: number, share = 1): void {
    if (this.#isOver) return;
    const { minSeconds, maxSeconds } = this.#pace;
    const pauseSeconds = (minSeconds + this.#random() * (maxSeconds - minSeconds)) * share;
    const dueUs = nowUs() + pauseSeconds * US_PER_SECOND;
    const timer = setTimeout(() => this.#post(user, dueUs, () => this.#think(user)), pauseSeconds * 1000);
    this.#timers.set(user, timer);
  }

  stop(): void {
    this.#isOver = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }
}
