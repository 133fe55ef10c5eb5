// Predicts how many rows a room writes per message, and how long posts wait. Called by the models of bills and of runs.
import { BURST_GAP } from "../../src/clock/throttle.ts";
import type { BatchRate } from "../../src/chat/posting/batch-rate.ts";
import { BATCH_POSTS_MAX } from "../../src/chat/posting/posts.ts";

/** The accuracy of the calculation below: a window is divided into so many steps. */
const STEPS = 20;
/** Shares that change by less are at rest. */
const CHANGE_MIN = 1e-9;

export interface Commits {
  readonly perPost: number;
  /** From a batch's first post to its commit, on average over all commits. */
  readonly waitSeconds: number;
}

/**
 * Independent posts at a rate, in a room that may commit `burst` batches ahead of their windows. The state after a commit is the time
 * that is used up ahead, at most `burst` windows; its stationary distribution gives the mean time from one commit to the next.
 */
export function commitsOf(postsPerSecond: number, { windowMs, burst }: BatchRate): Commits {
  const windowSeconds = windowMs / 1000;
  if (postsPerSecond === 0 || windowSeconds === 0) return { perPost: 1, waitSeconds: 0 };
  const perStep = (postsPerSecond * windowSeconds) / STEPS;
  const noPost = Math.exp(-perStep);
  const waitOf = (used: number): number => Math.max(BURST_GAP * STEPS, used - (burst - 1) * STEPS);
  let [before, states] = [new Float64Array(burst * STEPS + 1), new Float64Array(burst * STEPS + 1)];
  states[STEPS] = 1;
  while (states.some((share, used) => Math.abs(share - before[used]!) > CHANGE_MIN))
    [before, states] = [states, next(states, noPost, waitOf)];
  let [stepsBetween, stepsWaited] = [0, 0];
  for (const [used, share] of states.entries()) {
    const wait = waitOf(used);
    const quiet = noPost ** wait;
    stepsBetween += share * (wait + quiet / perStep);
    stepsWaited += share * (wait - (1 - quiet) / perStep);
  }
  return {
    perPost: Math.max(1 / BATCH_POSTS_MAX, 1 / (stepsBetween * perStep)),
    waitSeconds: (stepsWaited / STEPS) * windowSeconds,
  };
}

/** The distribution of the state after the next commit. */
function next(states: Float64Array, noPost: number, waitOf: (used: number) => number): Float64Array<ArrayBuffer> {
  const after = new Float64Array(states.length);
  for (const [used, share] of states.entries()) {
    if (share === 0) continue;
    const wait = waitOf(used);
    const quiet = share * noPost ** wait;
    const left = used - wait;
    // A post within the wait is committed at its end, otherwise the next post at once.
    after[left + STEPS]! += share - quiet;
    let chance = quiet;
    for (let step = 0; step < left && chance > CHANGE_MIN; step++) {
      after[left - step + STEPS]! += chance * (1 - noPost);
      chance *= noPost;
    }
    after[STEPS]! += chance;
  }
  return after;
}
